"""Code in a line: what computes, reads and prints passes, and nothing else."""

import pytest

from nacre.core.policy.known import node_code, python_code

from core.policy.test_decide import judge

PYTHON_PRINTS = (
    "import torch; print(torch.__version__, torch.cuda.is_available())",
    "import json,sys; d=json.load(sys.stdin); print(d['name'])",
    "print('\\n'.join(sorted(set(open('words.txt').read().split()))))",
    "from datetime import datetime, timezone; print(datetime.now(timezone.utc).isoformat())",
    "import ast; ast.parse(open('src/app.py').read())",
    'import yaml; yaml.safe_load(open("config.yml"))',
    "for i in range(5): print(i, i**2)",
    "print(sum(x for x in range(10) if x % 2))",
    "print('-'*40)",
    "import re\nfor l in open('x.py'):\n    if re.search('def',l): print(l.rstrip())",
    "from pathlib import Path\nfor p in Path('src').rglob('*.py'):\n  print(len(p.read_text()))",
    "import os\nfor r,d,f in os.walk('.'):\n    print(r)",
    "from mypkg.app import app; print('ok')",
    "import numpy as np; print(np.arange(10).sum())",
    "import hashlib; print(hashlib.sha256(open('x','rb').read()).hexdigest())",
    "import collections\nc=collections.Counter(open('a').read().split())\nprint(c.most_common(3))",
    "from mypkg import x",
    "def f(n):\n  return 1 if n<2 else n*f(n-1)\nprint(f(10))",
    "import sys\nassert sys.version_info >= (3,10)",
)

PYTHON_MAY_DO_MORE = (
    "import os; os.system('x')",
    "open('x','w')",
    "p=print; print=exec",
    "import os as json; json.system('x')",
    "from os import system as print; print('x')",
    "[os.system for os in [__import__('os')]]",
    "map(os.system,['x'])",
    "import os; sorted(['rm x'], key=os.system)",
    "import os\nfor print in [os.system]: print('x')",
    "import platform; d=platform.os; d.replace('a','b')",
    "import os; d=os; d.replace('a','b')",
    "from pathlib import Path; Path('a').replace('b')",
    "from pathlib import Path; Path('a').unlink()",
    "from pathlib import Path; Path('a').write_text('')",
    "import shutil; shutil.rmtree('x')",
    "import requests; requests.get('http://x')",
    "open('/etc/shadow').read()",
    "f='/etc/shadow'; print(open(f).read())",
    "f=chr(47)+'etc/shadow'; print(open(f).read())",
    "exec('x')",
    "eval('1')",
    "getattr(1,'x')",
    "import sys; sys.modules['json']=1",
    "import json; json.loads=1",
    "import re,os; re.sub('a', os.system, 'a')",
    "import subprocess; subprocess.run(['rm','x'])",
    "().__class__.__bases__",
    "import importlib; importlib.import_module('x').run()",
    "import os; [f for f in os.listdir('.') if os.remove(f)]",
    "import json,os; json.loads('{}', object_hook=os.system)",
    "from pathlib import Path; print((Path('.')/'/etc/shadow').read_text())",
    "import hashlib,os; hashlib.file_digest(open('x','rb'), os.abort)",
    "@print\ndef f(): pass",
    "class A: pass",
    "import urllib.request; urllib.request.urlopen('http://x')",
    "with open('x','w') as f: f.write('')",
    "import os; os.environ['PATH']='x'",
    "import os; os.rename('a','b')",
    "import socket; socket.socket()",
    "print(open('../../secret').read())",
    "import builtins; builtins.open('x','w')",
    "import io; io.open('x','w')",
    "import code; code.interact()",
    "import pty; pty.spawn('sh')",
    "import os; print(os.popen('id').read())",
    "from os import *",
    "import webbrowser; webbrowser.open('x')",
    "import tempfile; tempfile.mkdtemp()",
)

NODE_PRINTS = (
    "console.log(JSON.stringify(require('./package.json').dependencies, null, 2))",
    "process.versions.v8",
    "const p=require('./package.json'); console.log(p.name, p.version)",
    "console.log(process.version)",
    "console.log(Object.keys(require('./package.json').scripts).join('\\n'))",
    "const fs=require('fs'); const d=JSON.parse(fs.readFileSync('data.json')); console.log(d[0])",
    "for (const [k,v] of Object.entries(require('./package.json').dependencies)) console.log(k, v)",
    "[1,2,3].map(x => x*2).forEach(x => console.log(x))",
    "console.log(new Date().toISOString())",
    "console.log(require('os').cpus().length)",
    "Math.max(1,2)",
    "console.log(process.env.PATH)",
    "JSON.parse(require('fs').readFileSync('x.json','utf8'))",
)

NODE_MAY_DO_MORE = (
    "require('fs').rmSync('x')",
    "require('child_process').execSync('id')",
    "fs.writeFileSync('a','')",
    "const r=require; r('fs').unlinkSync('x')",
    "['x'].map(require('fs').unlinkSync)",
    "process.exit()",
    "eval('1')",
    "new Function('x')()",
    "[].constructor.constructor('x')()",
    "const k='ki'+'ll'; [1].map(process[k])",
    "process['kill'](1)",
    "require('./x.js')",
    "fetch('http://x')",
    "import('fs')",
    "const {unlinkSync:u}=require('fs'); u('x')",
    "console.log(`${1}`)",
    "require('fs')['rm'+'Sync']('x')",
    "process.mainModule.require('child_process')",
    "this.x",
    "console.log=require",
    "Object.values(process).forEach(f=>f())",
    "const fs=require('fs'); const f=fs; f.rmSync('x')",
    "require('http').get('http://x')",
    "require('fs').promises.rm('x')",
    "globalThis.process.kill(1)",
    "const fs=require('fs'); fs.promises.unlink('x')",
    "fs.readFileSync('/etc/shadow')",
    "fs.readFileSync('../x')",
    "require('fs').cpSync('a','b')",
)


@pytest.mark.parametrize("code", PYTHON_PRINTS)
def test_python_that_computes_and_prints_passes(code: str) -> None:
    assert python_code.only_prints(code)


@pytest.mark.parametrize("code", PYTHON_MAY_DO_MORE)
def test_python_that_may_do_more_does_not(code: str) -> None:
    assert not python_code.only_prints(code)


@pytest.mark.parametrize("code", NODE_PRINTS)
def test_javascript_that_computes_and_prints_passes(code: str) -> None:
    assert node_code.only_prints(code)


@pytest.mark.parametrize("code", NODE_MAY_DO_MORE)
def test_javascript_that_may_do_more_does_not(code: str) -> None:
    assert not node_code.only_prints(code)


def test_a_here_document_is_judged_like_the_code_behind_an_option() -> None:
    assert judge("python3 - <<'EOF'\nprint(1)\nEOF").verdict == "allow"
    assert judge("python3 <<EOF\nprint(1)\nEOF").verdict == "allow"
    for line in (
        "python3 - <<'EOF'\nimport os\nos.remove('x')\nEOF",
        "python3 - <<EOF\nprint('$x')\nEOF",
        "python3 - <<'EOF' < other.py\nprint(1)\nEOF",
        "python3 x.py <<'EOF'\nprint(1)\nEOF",
        "cat y | python3 - <<< 'print(1)'",
    ):
        assert judge(line).verdict == "ask", line


@pytest.mark.parametrize(
    ("line", "verdict"),
    [
        ("perl -ne 'print \"$.: $_\" if /error/' log", "allow"),
        ("perl -pi -e 's/a/b/g; s/c$/d/' src/x.py", "allow"),
        ("perl -pi -e 's/a/b/' /etc/hosts", "ask"),
        ("perl -pe 's/(.*)/qx($1)/e' x", "ask"),
        ("perl -ne 'print if /(?{system})/' x", "ask"),
        ("perl -pi -e 's/.*//' x", "ask"),
        ("perl -pe 's/x/@{[`id`]}/' y", "ask"),
        ("perl -ne 'print' '|id'", "ask"),
        ("ruby -e 'puts 1 + 2'", "allow"),
        ("ruby -e 'puts \"#{`id`}\"'", "ask"),
        ("php -r 'echo PHP_VERSION;'", "allow"),
        ("php -r 'echo shell_exec(\"id\");'", "ask"),
        ("mongosh --eval 'db.users.find()'", "allow"),
        ("mongosh --eval 'db.users.drop()'", "ask"),
        ("sed -i 's/.*//' x", "ask"),
    ],
)
def test_lines_of_small_languages(line: str, verdict: str) -> None:
    assert judge(line).verdict == verdict
