"""A menu in curses: arrow keys move, Enter chooses; a program as the tests need one."""

import curses
import locale

ITEMS = ["alpha", "beta", "gamma", "δέλτα", "漢字", "quit"]


def draw(screen: "curses.window", at: int) -> None:
    screen.erase()
    screen.box()
    screen.addstr(0, 2, " menu ")
    for row, item in enumerate(ITEMS):
        mark, style = (">", curses.A_REVERSE) if row == at else (" ", curses.A_NORMAL)
        screen.addstr(2 + row, 4, f"{mark} {item}", style)
    height, width = screen.getmaxyx()
    screen.addstr(height - 2, 2, f"{height}x{width} at {at}", curses.A_BOLD)
    screen.refresh()


def run(screen: "curses.window") -> str:
    curses.curs_set(0)
    at = 0
    while True:
        draw(screen, at)
        key = screen.getch()
        if key == curses.KEY_DOWN:
            at = min(at + 1, len(ITEMS) - 1)
        elif key == curses.KEY_UP:
            at = max(at - 1, 0)
        elif key == curses.KEY_END:
            at = len(ITEMS) - 1
        elif key in (10, 13, curses.KEY_ENTER):
            return ITEMS[at]


if __name__ == "__main__":
    locale.setlocale(locale.LC_ALL, "")
    print("chosen:", curses.wrapper(run))
