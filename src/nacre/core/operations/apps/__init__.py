"""Operations on programs that are driven and tested by their screens."""
