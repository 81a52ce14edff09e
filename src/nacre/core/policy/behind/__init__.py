"""Programs that run other programs: their options, and what runs behind them."""
