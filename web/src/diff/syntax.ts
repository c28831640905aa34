/** What a piece of a line is. Four inks, no more. */
export type Ink = "kw" | "str" | "fn" | "com" | null;

export interface Token {
  text: string;
  ink: Ink;
}

/** What a line leaves open for the next one: the end that is looked for, and its ink. "": nothing. */
export interface Open {
  until: string;
  ink: Ink;
}

export const closed: Open = { until: "", ink: null };

/** How a language is written, as far as four inks need it. */
interface Language {
  keywords: Set<string>;
  /** What begins a comment that ends with its line. */
  line: string[];
  /** What begins and ends one that does not. */
  block: [string, string][];
  /** Signs around a string within a line. */
  quotes: string;
  /** Signs around a string of several lines. */
  long: string[];
  /** A comment sign needs a blank before it (sh, yaml: a#b is no comment). */
  apart?: boolean;
}

const words = (text: string) => new Set(text.split(" "));
const curly = { line: ["//"], block: [["/*", "*/"]] as [string, string][], quotes: `"'`, long: ["`"] };
const hash = { line: ["#"], block: [] as [string, string][], quotes: `"'`, long: [] as string[], apart: true };

const go: Language = { ...curly, keywords: words("break case chan const continue default defer else fallthrough for func go goto if import interface map package range return select struct switch type var nil true false iota") };
const script: Language = {
  ...curly,
  keywords: words("abstract as async await break case catch class const continue debugger declare default delete do else enum export extends false finally for from function get if implements import in instanceof interface keyof let namespace new null of private protected public readonly return satisfies set static super switch this throw true try type typeof undefined var void while with yield"),
};
const c: Language = {
  ...curly,
  long: [],
  keywords: words(
    "abstract alignas as async auto await bool boolean break byte case catch char class const constexpr continue crate default defer delete do double dyn else enum explicit extends extern false final finally float fn for friend func go goto guard if impl implements import in include inline instanceof int interface internal is let long loop match mod move mut namespace new nil null nullptr object operator override package private protected protocol pub public ref return sealed self short signed sizeof static struct super switch synchronized template this throw throws trait true try type typedef typename union unsafe unsigned use using val var virtual void volatile when where while yield define ifdef ifndef endif pragma",
  ),
};
const python: Language = {
  ...hash,
  apart: false,
  long: [`"""`, "'''"],
  keywords: words("and as assert async await break class continue def del elif else except False finally for from global if import in is lambda match case None nonlocal not or pass raise return True try while with yield self"),
};
const ruby: Language = { ...hash, keywords: words("alias and begin break case class def do else elsif end ensure false for if in module next nil not or redo require rescue retry return self super then true undef unless until when while yield attr_reader attr_accessor") };
const shell: Language = { ...hash, keywords: words("if then else elif fi for while until do done case esac in function return exit local export set unset readonly shift trap source") };
const yaml: Language = { ...hash, keywords: words("true false null yes no on off") };
const sql: Language = {
  line: ["--"],
  block: [["/*", "*/"]],
  quotes: `"'`,
  long: [],
  keywords: words("select from where insert into values update set delete create table index view drop alter add column primary key foreign references unique not null default check constraint on and or in is like as join left right inner outer group by order having limit offset union all distinct begin commit rollback transaction with case when then else end exists integer text blob real boolean timestamp"),
};
const css: Language = { line: [], block: [["/*", "*/"]], quotes: `"'`, long: [], keywords: words("import media supports layer theme apply keyframes important") };
const json: Language = { line: [], block: [], quotes: `"`, long: [], keywords: words("true false null") };
const markup: Language = { line: [], block: [["<!--", "-->"]], quotes: `"`, long: [], keywords: new Set() };
const lisp: Language = { line: [";"], block: [], quotes: `"`, long: [], keywords: words("def defn defun let lambda if cond fn ns require quote setq") };
const lua: Language = { line: ["--"], block: [["--[[", "]]"]], quotes: `"'`, long: [], keywords: words("and break do else elseif end false for function goto if in local nil not or repeat return then true until while module import where data case of type class instance") };

const byEnding: Record<string, Language> = {};
const give = (language: Language, endings: string) => {
  for (const ending of endings.split(" ")) byEnding[ending] = language;
};
give(go, "go");
give(script, "ts tsx js jsx mjs cjs mts cts vue svelte");
give(c, "c h cc cpp cxx hpp cs java kt kts rs swift scala dart php proto m mm groovy gradle zig");
give(python, "py pyi");
give(ruby, "rb rake ex exs cr");
give(shell, "sh bash zsh fish mk dockerfile makefile env ps1");
give(yaml, "yaml yml toml ini conf cfg tf hcl mod properties");
give(sql, "sql");
give(css, "css scss less");
give(json, "json jsonc json5");
give(markup, "html htm xml svg md markdown");
give(lisp, "el clj cljs lisp scm");
give(lua, "lua hs elm");

/** The language of a file, by its ending or its whole name; null: none that is known. */
export function languageOf(path: string): Language | null {
  const name = path.slice(path.lastIndexOf("/") + 1).toLowerCase();
  const ending = name.slice(name.lastIndexOf(".") + 1);
  return byEnding[ending] ?? null;
}

/** Lines longer than this are shown without colours. */
const LONGEST = 2000;

/** Takes one line apart. `open` is what the line before it left open. */
export function tokenize(language: Language | null, line: string, open: Open): { tokens: Token[]; open: Open } {
  if (!language || line.length > LONGEST) return { tokens: [{ text: line, ink: null }], open: closed };
  return new LineReader(language, line).read(open);
}

class LineReader {
  private readonly tokens: Token[] = [];
  private at = 0;

  constructor(
    private readonly language: Language,
    private readonly line: string,
  ) {}

  read(open: Open): { tokens: Token[]; open: Open } {
    if (open.until !== "") {
      const rest = this.through(0, open);
      if (rest.until !== "") return { tokens: this.tokens, open: rest };
    }
    while (this.at < this.line.length) {
      const left = this.step();
      if (left) return { tokens: this.tokens, open: left };
    }
    return { tokens: this.tokens, open: closed };
  }

  /** One token. Gives what is still open at the end of the line. */
  private step(): Open | null {
    const { language, line, at } = this;
    if (language.line.some((sign) => line.startsWith(sign, at)) && this.mayComment()) {
      this.push(line.length, "com");
      return null;
    }
    for (const [begin, end] of language.block) {
      if (line.startsWith(begin, at)) return this.orNull(this.through(begin.length, { until: end, ink: "com" }));
    }
    for (const sign of language.long) {
      if (line.startsWith(sign, at)) return this.orNull(this.through(sign.length, { until: sign, ink: "str" }));
    }
    if (language.quotes.includes(line.charAt(at))) {
      this.push(this.endOfString(line.charAt(at)), "str");
      return null;
    }
    this.word();
    return null;
  }

  private mayComment(): boolean {
    return !this.language.apart || this.at === 0 || /\s/.test(this.line.charAt(this.at - 1));
  }

  private orNull(open: Open): Open | null {
    return open.until === "" ? null : open;
  }

  /** Goes on to the end that is looked for; what is left open when it is not in this line. */
  private through(skip: number, open: Open): Open {
    const end = this.line.indexOf(open.until, this.at + skip);
    this.push(end < 0 ? this.line.length : end + open.until.length, open.ink);
    return end < 0 ? open : closed;
  }

  /** Where a string of one line ends; one that does not ends with the line. */
  private endOfString(quote: string): number {
    for (let i = this.at + 1; i < this.line.length; i++) {
      if (this.line[i] === "\\") i++;
      else if (this.line[i] === quote) return i + 1;
    }
    return this.line.length;
  }

  private word(): void {
    const word = /^[\p{L}_$][\p{L}\p{N}_$]*/u.exec(this.line.slice(this.at))?.[0];
    if (word === undefined) {
      // Everything up to the next thing that may mean something.
      const plain = /^(?:\d[\w.]*|\s+|[^\p{L}_$])/u.exec(this.line.slice(this.at))?.[0] ?? this.line.charAt(this.at);
      return this.push(this.at + plain.length, null);
    }
    const keyword = this.language.keywords.has(word) || (this.language === sql && this.language.keywords.has(word.toLowerCase()));
    const called = this.line.startsWith("(", this.at + word.length);
    this.push(this.at + word.length, keyword ? "kw" : called ? "fn" : null);
  }

  private push(to: number, ink: Ink): void {
    const text = this.line.slice(this.at, to);
    const last = this.tokens.at(-1);
    if (last && last.ink === ink) last.text += text;
    else this.tokens.push({ text, ink });
    this.at = to;
  }
}
