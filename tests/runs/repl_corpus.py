"""What a caller of run gets in a REPL: real programs, each with what is hard about it."""

from runs.corpus import BASH, Case, Keys, Page, Run, Screen, Wait, asks, leaves, repl, run

PYTHON = asks("@python@ -q", "repl")
CLASS = '''class A:
    """Two

    lines"""

    def one(self):

        return 1

    # a comment
    def two(self):
        return 2

print(A().one() + A().two())'''
DECORATED = """import functools

def twice(f):
    @functools.wraps(f)
    def g(*a):
        return 2 * f(*a)
    return g

@twice
def three():
    return 3
three()"""
BRANCHES = """x = 5
if x > 9:
    print("big")
elif x > 4:
    print("middle")
else:
    print("small")
try:
    1 / 0
except ZeroDivisionError as e:
    print("caught", e)
finally:
    print("done")
x"""
NESTED = """for i in range(2):
    for j in range(2):
        if i == j:
            print(i, j)

print("end")"""
STRING = '''text = """first

  third
"""
print(text)'''

BY_ITS_PROMPT = ("asks by the REPL's own prompt",)
# As Erlang's shell: it takes keys all the time, shows them where it reads a line, and counts.
COUNTS = r"""import os, sys, threading, time, tty
tty.setraw(0)
line, lines, reads = "", [], threading.Event()
came = threading.Condition()
typed = ""


def listen():
    global typed
    while True:
        keys = os.read(0, 100).decode()
        with came:
            typed += keys
            came.notify()


def put(text):
    os.write(1, text.encode())


def read_line():
    global typed
    line = ""
    while True:
        with came:
            came.wait_for(lambda: typed)
            key, typed = typed[0], typed[1:]
        if key == "\r":
            put("\r\n")
            return line
        put("\b \b" if key == "\x7f" else key)
        line = line[:-1] if key == "\x7f" else line + key


threading.Thread(target=listen, daemon=True).start()
number = 1
while True:
    put(f"{number}> ")
    word, _, rest = read_line().strip().rstrip(".").partition(" ")
    if word == "say":
        put(f"{rest}\r\n")
    elif word == "late":
        put(rest.replace("\\n", "\r\n"))
        time.sleep(0.5)
        put("done\r\n")
    else:
        put("* 1: syntax error\r\n")
        continue
    number += 1
"""


def incomplete(command: str, *hints: str) -> Run:
    hints = ("the input is incomplete", *hints)
    return run(command, "", None, status="error", asks="repl", hints=hints)


PYTHON_CASES = [
    Case("python: a class with blank lines", BASH, (PYTHON, repl(CLASS, "3"), repl("1", "1"))),
    Case("python: decorators", BASH, (PYTHON, repl(DECORATED, "6"))),
    Case(
        "python: branches, statement by statement",
        BASH,
        (PYTHON, repl(BRANCHES, "middle\ncaught division by zero\ndone\n5"), repl("x", "5")),
    ),
    Case("python: nested blocks", BASH, (PYTHON, repl(NESTED, "0 0\n1 1\nend"))),
    Case("python: a string over lines", BASH, (PYTHON, repl(STRING, "first\n\n  third"))),
    Case("python: brackets over lines", BASH, (PYTHON, repl("sum([\n  1,\n\n  2,\n])", "3"))),
    Case("python: a backslash at the end", BASH, (PYTHON, repl("1 + \\\n  2", "3"))),
    Case("python: a comment alone", BASH, (PYTHON, repl("# nothing\n1", "1"))),
    Case(
        "python: no line's end",
        BASH,
        (
            PYTHON,
            repl("print('abc', end='')", "abc"),
            repl("print('a\\nb', end='')", "a\nb"),
            repl("1", "1"),
            repl("print('x', end='')\nprint('y', end='')\n2", "x\ny\n2"),
            repl("2", "2"),
        ),
    ),
    Case(
        "python: an error in the middle",
        BASH,
        (
            PYTHON,
            repl("a = 1\nb = 1/0\na", None, has=("ZeroDivisionError",), lacks=(">>>",)),
            repl("a", "1"),
        ),
    ),
    Case(
        "python: an error in a block",
        BASH,
        (
            PYTHON,
            repl("def f():\n    raise KeyError('k')\nf()", None, has=("KeyError: 'k'",)),
            repl("1", "1"),
        ),
    ),
    Case(
        "python: incomplete",
        BASH,
        (
            PYTHON,
            incomplete("x = (1,"),
            repl("'x' in globals()", "False"),
            incomplete("s = '''a\nb"),
            repl("1", "1"),
            incomplete("y = 2\nx = (1,", "what stood before that was run"),
            repl("y", "2"),
        ),
    ),
    Case(
        "python: what a person left open",
        BASH,
        (
            PYTHON,
            Keys(b"x = (\r", shows="x = (\n..."),
            incomplete("1", "typed before"),
            Keys(b"\x03", shows="KeyboardInterrupt\n>>>"),
            repl("3", "3"),
        ),
    ),
    Case(
        "python: a line that is wrapped",
        BASH,
        (
            PYTHON,
            repl("len('" + "x" * 300 + "')", "300"),
            repl("'" + "ab" * 150 + "'", "'" + "ab" * 150 + "'"),
            repl("1", "1"),
        ),
    ),
    Case(
        "python: much output",
        BASH,
        (
            PYTHON,
            repl("for i in range(30000): print(i)", None, has=("0\n1\n2\n", "29998\n29999")),
            Page(offset=29998, limit=10, output="29998\n29999", total=30000),
            repl("1", "1"),
        ),
    ),
    Case("python: a cleared screen", BASH, (PYTHON, repl(r"print('\x1b[H\x1b[2Jx')", "x"))),
    Case("python: what looks as its prompt", BASH, (PYTHON, repl("print('>>> ')", ">>>"))),
    Case("python: tabs", BASH, (PYTHON, repl("if 1:\n\tprint(1)\n\tprint(2)", "1\n2"))),
    Case("python: wide characters", BASH, (PYTHON, repl("print('漢字' * 3)", "漢字漢字漢字"))),
    Case(
        "python: another prompt",
        BASH,
        (
            PYTHON,
            asks("import sys; sys.ps1 = 'py$ '", "repl", "py$", context="repl"),
            repl("1", "1"),
            repl("print('abc', end='')", "abc"),
        ),
    ),
    Case(
        "python: input() wants a line",
        BASH,
        (
            PYTHON,
            asks("x = input('name: ')", "line", "name:", context="repl"),
            run("1 + 1", None, None, status="error", asks="line"),
            Keys(b"joe\r", shows="name: joe\n>>>"),
            Wait(output="name: joe", code=None),
            repl("x", "'joe'"),
        ),
    ),
    Case(
        "python: pdb",
        BASH,
        (
            PYTHON,
            asks("import pdb; pdb.set_trace()", "repl", context="repl"),
            repl("p 40 + 2", "42"),
            repl("x = 1", ""),
            repl("p x", "1"),
        ),
    ),
    Case(
        "pdb in a script",
        BASH,
        (
            asks("@python@ s.py", "repl"),
            repl("p y", "7"),
            repl("where", None, has=("<module>()",), lacks=("(Pdb)",)),
            leaves("c", None, 0, context="repl"),
            run("echo on", "on"),
        ),
        files={"s.py": "y = 7\nbreakpoint()\nprint('end')\n"},
    ),
    Case(
        "a script that asks is no REPL",
        BASH,
        (
            asks("@python@ s.py", "line", "name:"),
            run("1 + 1", None, None, status="error", asks="line"),
            Keys(b"joe\r"),
            Wait(output="name: joe\nhi joe"),
        ),
        files={"s.py": "import readline\nprint('hi', input('name: '))\n"},
    ),
    Case(
        "python: what is left waits for its end",
        BASH,
        (
            PYTHON,
            repl("import time", ""),
            run(
                "time.sleep(0.5); print('late')",
                None,
                None,
                status="timeout",
                ended_by="deadline",
                context="repl",
                timeout_ms=50,
            ),
            Wait(output="late", code=None),
            repl("1", "1"),
        ),
    ),
    Case(
        "python: lines that there was no time for",
        BASH,
        (
            PYTHON,
            run(
                "import time; time.sleep(0.5)\nx = 1",
                None,
                None,
                status="timeout",
                ended_by="deadline",
                context="repl",
                timeout_ms=100,
                hints=("1 more line was not typed",),
            ),
            Wait(output="", code=None),
            repl("'x' in globals()", "False"),
        ),
    ),
]

NARROW = [
    Case(
        "python: a line that just fills the width",
        BASH,
        (
            PYTHON,
            repl("print('ab' * 500)", "ab" * 500),
            repl("print(123456789)", "123456789"),
            repl("print('\u6f22\u5b57'*30)", "漢字" * 30),
            repl("1", "1"),
        ),
        cols=20,
    ),
    Case(
        "python: a prompt over two rows",
        BASH,
        (
            PYTHON,
            repl("print('y' * 18, end='')", "y" * 18),
            repl("print('x', end='')", "x"),
            repl("print('y' * 20, end='')", "y" * 20),
            repl("1", "1"),
        ),
        cols=20,
    ),
]

ASKING = [
    Case(
        "python: input() without a question",
        BASH,
        (
            PYTHON,
            asks("x = input()", "line", "", context="repl"),
            Keys(b"joe\r", shows="joe\n>>>"),
            Wait(output=None, code=None),
            asks("x = input('name ')", "line", "name", context="repl"),
            Keys(b"bob\r", shows="name bob\n>>>"),
            Wait(output=None, code=None),
            repl("x", "'bob'"),
        ),
    ),
    Case(
        "python: input() asks as its prompt does",
        BASH,
        (
            PYTHON,
            repl("1", "1"),
            asks("x = input('>>> ')\ny = 1", "repl", ">>>", context="repl", hints=BY_ITS_PROMPT),
            Keys(b"joe\r", shows=">>> joe\n>>>"),
            Wait(output=">>> joe", code=None),
            repl("x", "'joe'"),
            asks("x = input('>>> ')", "repl", ">>>", context="repl", hints=BY_ITS_PROMPT),
            repl("bob", ""),
            repl("x", "'bob'"),
        ),
    ),
    Case(
        "python: a loop that asks by the prompt itself",
        BASH,
        (
            PYTHON,
            asks(
                "for i in range(2): print(input('>>> '))\n",
                "repl",
                ">>>",
                context="repl",
                hints=BY_ITS_PROMPT,
            ),
            repl("a", "a", hints=("went to code that was typed before",)),
            repl("b", "b", hints=("a REPL has no exit code",)),
            repl("1 + 1", "2"),
        ),
    ),
    Case(
        "python: a console in it",
        BASH,
        (
            PYTHON,
            asks("import code; code.interact()", "repl", context="repl", hints=BY_ITS_PROMPT),
            *(repl(f"{number}", f"{number}") for number in range(20)),
            asks("x = input('>>> ')", "repl", ">>>", context="repl", hints=BY_ITS_PROMPT),
            repl("joe", ""),
            repl("x", "'joe'"),
            Keys(b"\x04", shows="now exiting InteractiveConsole...\n>>>"),
            repl("1", "1"),
        ),
    ),
    *(
        Case(
            f"python: a console that is a script: {script}",
            BASH,
            (
                asks(f"@python@ {script}", "repl"),
                # Its own code is run faster after some of them, and its stack is another then.
                *(repl(f"{number}", f"{number}") for number in range(20)),
                repl("def f():\n    return 5\nf()", "5"),
                asks("x = input('>>> ')", "repl", ">>>", context="repl", hints=BY_ITS_PROMPT),
                repl("joe", ""),
                repl("x", "'joe'"),
            ),
        )
        for script in ("-m asyncio", "-m code", "-c 'import code; code.interact()'")
    ),
    Case(
        "python: a prompt that ends as a question does",
        BASH,
        (
            PYTHON,
            repl("import sys", ""),
            asks("sys.ps1 = 'what? '", "repl", "what?", context="repl"),
            repl("1", "1"),
        ),
    ),
    Case(
        "a REPL that counts: what looks as its next prompt is not read yet",
        BASH,
        (
            run("ln -s @python@ beam.smp"),
            asks("./beam.smp erl.py", "repl", "1>"),
            repl("say a.", "a"),
            repl("late 3> .", "3> done"),
            repl("late b\\n4> .", "b\n4> done"),
            repl("say a. say b.", "a\nb"),
            repl("oops.", "* 1: syntax error"),
            repl("say c.", "c"),
        ),
        files={"erl.py": COUNTS},
    ),
    Case(
        "python: what is not typed since it ended is told",
        BASH,
        (
            PYTHON,
            leaves(
                "import os\nos._exit(0)\nprint(1)",
                None,
                context="repl",
                hints=("1 more line was not typed",),
            ),
            run("echo on", "on"),
        ),
    ),
    Case(
        "python: other prompts, also for the rest",
        BASH,
        (
            PYTHON,
            asks("import sys; sys.ps2 = '.. '; sys.ps1 = 'in> '", "repl", "in>", context="repl"),
            repl("for i in range(2):\n    print(i)", "0\n1"),
            incomplete("x = (1,"),
            repl("2", "2"),
        ),
    ),
    Case(
        "code.interact: no line's end",
        BASH,
        (
            asks("@python@ -c 'import code; code.interact()'", "repl"),
            repl("print('abc', end='')", "abc"),
            repl("1", "1"),
        ),
    ),
    *(
        Case(
            f"a program of one's own that asks by {prompt}",
            BASH,
            (
                asks(f"@python@ s.py '{prompt} '", "repl"),
                repl("hi joe", "hi joe"),
                repl("slow", "slow"),
                leaves("quit", None, context="repl"),
            ),
            files={
                "s.py": "import cmd, sys, time\n"
                "class C(cmd.Cmd):\n"
                "    prompt = sys.argv[1]\n"
                "    def do_hi(self, who): print('hi', who)\n"
                "    def do_slow(self, _): time.sleep(0.3); print('slow')\n"
                "    def do_quit(self, _): return True\n"
                "C().cmdloop()\n"
            },
        )
        for prompt in ("(Cmd)", "app>")
    ),
    Case(
        "a REPL behind su",
        BASH,
        (
            asks("su -c 'sqlite3'", "repl"),
            repl("select 1;", "1"),
            repl("select\n 2;", "2"),
            leaves(".quit", None, context="repl"),
        ),
    ),
]

NODE = asks("node", "repl")
OTHERS = [
    Case(
        "node: await",
        BASH,
        (
            NODE,
            repl("await new Promise(r => setTimeout(r, 400, 7))", "7"),
            repl(
                "process.stdout.write('abc'); await new Promise(r => setTimeout(r, 300, 8))",
                "abc8",
            ),
            repl(
                "process.stdout.write('> '); await new Promise(r => setTimeout(r, 300, 9))", "> 9"
            ),
            repl("1", "1"),
        ),
    ),
    Case(
        "node is busy while it awaits",
        BASH,
        (
            NODE,
            run(
                "await new Promise(() => {})",
                None,
                None,
                status="timeout",
                ended_by="deadline",
                context="repl",
                asks="repl",
                timeout_ms=1000,
            ),
            run("1", "", None, status="busy", asks="repl"),
            Keys(b"\x03"),
            Wait(output=None, code=None),
            repl("2", "2"),
        ),
    ),
    Case(
        "node: functions",
        BASH,
        (
            NODE,
            repl(
                "function f(a) {\n  if (a) {\n\n    return `x\n y`;\n  }\n}\nf(1)",
                "undefined\n'x\\n y'",
            ),
            repl("[1, 2].map(\n  x => x * 2\n)", "[ 2, 4 ]"),
            repl("throw new Error('no')", None, has=("Uncaught Error: no",)),
            repl("1", "1"),
        ),
    ),
    Case(
        "node: incomplete",
        BASH,
        (NODE, incomplete("function nope() {"), repl("typeof nope", "'undefined'")),
    ),
    Case(
        "node: no line's end",
        BASH,
        (NODE, repl("process.stdout.write('abc')", "abctrue"), repl("1", "1")),
    ),
    Case(
        "node: late output is not the next one's",
        BASH,
        (
            NODE,
            repl("setTimeout(() => console.log('la' + 'te'), 100); 1", "1"),
            Screen(has=("late",)),
            repl("2", "2"),
            repl("setTimeout(() => console.log('so' + 'on'), 1); 3", "3"),
            Screen(has=("soon",)),
            repl("4", "4"),
            incomplete("(5"),
            repl("6", "6"),
        ),
    ),
    Case(
        "a node script that asks is no REPL",
        BASH,
        (
            asks("node s.js", "line", "name"),
            run("1 + 1", None, None, status="error", asks="line"),
            Keys(b"joe\r"),
            Wait(output=None),
        ),
        files={
            "s.js": "const r = require('readline').createInterface(process.stdin, process.stdout);"
            "r.question('name ', n => { console.log('hi', n); r.close(); });"
        },
    ),
    Case(
        "sqlite3: statements over lines",
        BASH,
        (
            asks("sqlite3", "repl"),
            repl("create table t(\n  a int,\n\n  b text\n);\ninsert into t values (1, 'x;\ny');"),
            repl("select a, b\nfrom t;", "1|x;\ny"),
            repl("select 1;\nselect 2;", "1\n2"),
            repl(".tables", "t"),
            repl("selct;", None, has=("syntax error",)),
            repl("select 1; -- done", "1"),
        ),
    ),
    Case(
        "sqlite3: a forgotten semicolon",
        BASH,
        (
            asks("sqlite3", "repl"),
            incomplete("select 1"),
            incomplete("select 'a;"),
            incomplete("select 1; delete from\nt"),
            repl("select 2;", "2"),
        ),
    ),
    Case(
        "lua",
        BASH,
        (
            asks("lua5.4", "repl"),
            repl("1 + 1", "2"),
            repl("function f(n)\n\n  return n * 2\nend\nprint(f(4))", "8"),
            repl("for i = 1, 2 do print(i) end", "1\n2"),
            repl("io.write('abc') return", "abc"),
            repl("error('no')", None, has=("no",)),
            repl("1", "1"),
        ),
    ),
    Case(
        "lua: incomplete",
        BASH,
        (
            asks("lua5.4", "repl"),
            incomplete("function g()"),
            incomplete("s = [[a"),
            incomplete("t = {1,\n2"),
            repl("g", "nil"),
        ),
    ),
    Case(
        "perl's debugger",
        BASH,
        (
            asks("perl -de0", "repl"),
            repl("p 1 + 1", "2"),
            repl("$x = 3\np $x", "\n3"),
            repl("die 'no'", None, has=("no at",)),
            repl("p 4", "4"),
        ),
    ),
    Case(
        "bc",
        BASH,
        (
            asks("bc -q", "repl"),
            repl("2^10", "1024"),
            repl('print "abc"', "abc"),
            repl("define f(x) {\n  return x * 2\n}\nf(4)", "8"),
            repl("1\n/* a\nb */ 2\n3", "1\n2\n3"),
            incomplete("define g(x) {"),
            repl("1", "1"),
        ),
    ),
    Case(
        "bc: code that reads",
        BASH,
        (
            asks("bc -q", "repl"),
            asks("a = read()", "repl", "", context="repl", hints=BY_ITS_PROMPT),
            repl("5", ""),
            repl("a", "5"),
        ),
    ),
    Case(
        "dc",
        BASH,
        (
            asks("dc", "repl"),
            repl("2 3 + p", "5"),
            repl("[abc] n", "abc"),
            repl("1 p\n[a [b]\nc] p", "1\na [b]\nc"),
            repl("4 p", "4"),
        ),
    ),
    Case(
        "sqlite3: other prompts, also for the rest",
        BASH,
        (
            asks("sqlite3", "repl"),
            asks(".prompt 'db> ' '..> '", "repl", "db>", context="repl"),
            repl("select\n 1;", "1"),
        ),
    ),
    Case(
        "gdb asks",
        BASH,
        (
            asks("gdb -q", "repl"),
            asks("help all", "pager", context="repl", hints=("q to stop",)),
            Keys(b"q\r"),
            Wait(output=None, code=None),
            asks("delete display", "confirm", context="repl"),
            Keys(b"n\r"),
            Wait(output=None, code=None),
            repl("print 1", None, has=("= 1",)),
        ),
    ),
    Case(
        "gdb",
        BASH,
        (
            asks("gdb -q", "repl"),
            repl("print 6 * 7", "$1 = 42"),
            repl("define twice\nprint $arg0 * 2\nend\ntwice 4", None, has=("= 8",)),
            incomplete("define more"),
            repl("print 1", None, has=("= 1",)),
        ),
    ),
]

TCSH = asks("tcsh -f", "repl")
OTHER_SHELLS = [
    Case(
        "tcsh",
        BASH,
        (
            TCSH,
            repl("echo one\necho two", "one\ntwo"),
            repl("false", ""),
            repl("echo -n abc", "abc"),
            repl("foreach x (1 2)\necho $x\nend", "1\n2"),
            incomplete("foreach x (1 2)\necho $x"),
            repl("echo 'open", "Unmatched '''."),
            leaves("exit", None, context="repl"),
        ),
    ),
    Case(
        "tcsh with the folder in its prompt",
        BASH,
        (asks("tcsh", "repl"), repl("cd /tmp", ""), repl("pwd", "/tmp"), repl("echo -n a", "a")),
        files={".tcshrc": "set prompt='%m:%~%# '"},
    ),
]

REPL_CORPUS = [*PYTHON_CASES, *NARROW, *ASKING, *OTHERS, *OTHER_SHELLS]
