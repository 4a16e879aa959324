"""Fenced blocks of Markdown pages, and the commands in them."""

import re
import shlex
from dataclasses import dataclass

MARK = re.compile(r"^ *<!-- (not run|as): (.+) -->$")
FENCE = re.compile(r"^( *)```(\w*)$")
PROGRAMS = ("muster", "musterd", "muster-agent", "muster-fleet")
# After these words of a line a new command begins; after the others the next word is a file.
BETWEEN = {"|", "||", "&&", ";", "&", "(", ")", "<(", "$("}
FILES = {"<", ">", ">>", "2>"}


@dataclass
class Block:
    page: str
    line: int
    kind: str   # as behind the fence; "" is none
    mark: str   # "not run", "as" or ""
    says: str   # of the mark
    text: str

    def __str__(self):
        return f"{self.page}:{self.line}"


def blocks_of(page, text):
    """The fenced blocks of a page. `<!-- not run: WHY -->` and `<!-- as: WHAT -->` on the line before one mark it."""
    found, start, indent, kind = [], 0, "", ""
    lines = text.splitlines()
    for number, line in enumerate(lines, 1):
        fence = FENCE.match(line)
        if not fence or (start and fence[2]):
            continue
        if not start:
            start, indent, kind = number, fence[1], fence[2]
            continue
        mark = MARK.match(lines[start - 2]) if start > 1 else None
        body = "\n".join(text.removeprefix(indent) for text in lines[start:number - 1]) + "\n"
        found.append(Block(page, start, kind, mark[1] if mark else "", mark[2] if mark else "", body))
        start = 0
    assert not start, f"{page}:{start}: a fence that does not end"
    return found


def lines_of(block):
    """The command lines of a block: those behind `$ `, or all of them where there is none; continued ones joined."""
    text = block.text.replace("\\\n", " ")
    typed = [line[2:] for line in text.splitlines() if line.startswith("$ ")]
    return typed or [line for line in text.splitlines() if line.strip() and not line.lstrip().startswith("#")]


def commands_of(line):
    """The commands of a shell line, each as its words, without redirections and comments. It knows quotes, pipes
    and `$( )`; it is no shell."""
    words, found, skip = _words(line), [[]], False
    for word in words:
        if word in BETWEEN:
            found.append([])
        elif skip:
            skip = False
        elif word in FILES:
            skip = True
        else:
            found[-1].append(word)
    return [command for command in found if command]


def _words(line):
    """Also cuts what stands in "$( )", one level deep."""
    inner = re.findall(r'"\$\(([^()]*)\)"', line)
    lexer = shlex.shlex(re.sub(r'"\$\([^()]*\)"', "VALUE", line), posix=True, punctuation_chars=True)
    lexer.whitespace_split = True
    words = list(lexer)
    for more in inner:
        words += [";", *_words(more)]
    return words
