"""What a terminal shows, as plain values: lines, spans, cursor, modes."""
