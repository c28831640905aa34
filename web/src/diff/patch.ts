/** One line of a hunk. A number is missing on the side that does not have the line. */
export interface Line {
  kind: "same" | "add" | "del";
  old: number | null;
  new: number | null;
  text: string;
  /** The file ends with it, without a newline. */
  open?: boolean;
}

/** Lines that belong together, with what git says about the place. */
export interface Hunk {
  oldStart: number;
  newStart: number;
  /** The function or section that it is in, as git names it. */
  section: string;
  lines: Line[];
}

/** What happened to one file. */
export interface FilePatch {
  path: string;
  /** The path that it had before; null when it is the same. */
  from: string | null;
  kind: "changed" | "added" | "deleted" | "renamed";
  binary: boolean;
  /** "100644 → 100755" when the mode changed. */
  mode: string | null;
  hunks: Hunk[];
}

/** Takes a patch of git apart. Lines that it does not know are left out. */
export function parsePatch(text: string): FilePatch[] {
  const files: FilePatch[] = [];
  const reader = new PatchReader(files);
  for (const line of text.split("\n")) reader.take(line);
  return files;
}

class PatchReader {
  private file: FilePatch | null = null;
  private hunk: Hunk | null = null;
  private oldLine = 0;
  private newLine = 0;
  /** Lines that the hunk still has, by its head: a line of a file may look like a head. */
  private oldLeft = 0;
  private newLeft = 0;
  private oldMode = "";

  constructor(private readonly files: FilePatch[]) {}

  take(line: string): void {
    if (this.hunk && (this.oldLeft > 0 || this.newLeft > 0)) return this.inHunk(this.hunk, line);
    if (line.startsWith("\\ ") && this.hunk) return this.leaveOpen(this.hunk);
    if (line.startsWith("diff --git ")) return this.begin(line);
    if (line.startsWith("@@ ")) return this.beginHunk(line);
    if (this.file) this.head(this.file, line);
  }

  private begin(line: string): void {
    this.hunk = null;
    this.oldMode = "";
    this.file = { path: pathOfHead(line), from: null, kind: "changed", binary: false, mode: null, hunks: [] };
    this.files.push(this.file);
  }

  private head(file: FilePatch, line: string): void {
    if (line.startsWith("new file mode")) file.kind = "added";
    else if (line.startsWith("deleted file mode")) file.kind = "deleted";
    else if (line.startsWith("old mode ")) this.oldMode = line.slice(9);
    else if (line.startsWith("new mode ")) file.mode = `${this.oldMode} → ${line.slice(9)}`;
    else if (line.startsWith("rename from ")) [file.kind, file.from] = ["renamed", unquote(line.slice(12))];
    else if (line.startsWith("rename to ")) file.path = unquote(line.slice(10));
    else if (line.startsWith("Binary files ") || line.startsWith("GIT binary patch")) file.binary = true;
    else if (line.startsWith("--- ") && file.kind === "deleted") file.path = side(line.slice(4)) ?? file.path;
    else if (line.startsWith("+++ ")) file.path = side(line.slice(4)) ?? file.path;
  }

  private beginHunk(line: string): void {
    const at = /^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@ ?(.*)$/.exec(line);
    if (!at || !this.file) return;
    this.oldLine = Number(at[1]);
    this.newLine = Number(at[3]);
    this.oldLeft = Number(at[2] ?? 1);
    this.newLeft = Number(at[4] ?? 1);
    this.hunk = { oldStart: this.oldLine, newStart: this.newLine, section: at[5] ?? "", lines: [] };
    this.file.hunks.push(this.hunk);
  }

  private inHunk(hunk: Hunk, line: string): void {
    const text = line.slice(1);
    switch (line[0]) {
      case "+":
        this.newLeft--;
        hunk.lines.push({ kind: "add", old: null, new: this.newLine++, text });
        break;
      case "-":
        this.oldLeft--;
        hunk.lines.push({ kind: "del", old: this.oldLine++, new: null, text });
        break;
      case "\\":
        return this.leaveOpen(hunk);
      default:
        // An empty line may have lost its blank on the way.
        this.oldLeft--;
        this.newLeft--;
        hunk.lines.push({ kind: "same", old: this.oldLine++, new: this.newLine++, text });
    }
  }

  private leaveOpen(hunk: Hunk): void {
    const last = hunk.lines.at(-1);
    if (last) last.open = true;
  }
}

/** The path on one side; null for /dev/null. A tab ends it. */
function side(text: string): string | null {
  const path = unquote(text.replace(/\t.*$/, ""));
  return path === "/dev/null" ? null : path.replace(/^[ab]\//, "");
}

/** The path of "diff --git a/x b/x", where nothing else tells it: of modes and binary files. */
function pathOfHead(line: string): string {
  const rest = line.slice("diff --git ".length);
  if (rest.startsWith('"')) {
    const quoted = /^"(?:[^"\\]|\\.)*"/.exec(rest);
    return quoted ? unquote(quoted[0]).replace(/^a\//, "") : rest;
  }
  // Both halves are the same path, so the middle parts them.
  const half = rest.slice(2, (rest.length - 1) / 2);
  return rest === `a/${half} b/${half}` ? half : (/ b\/(.*)$/.exec(rest)?.[1] ?? rest);
}

/** Git writes unusual paths like C strings, in bytes of UTF-8. */
function unquote(text: string): string {
  if (!text.startsWith('"') || !text.endsWith('"')) return text;
  const bytes: number[] = [];
  const plain = new TextEncoder();
  const named: Record<string, number> = { n: 10, t: 9, r: 13, a: 7, b: 8, f: 12, v: 11 };
  for (const part of text.slice(1, -1).matchAll(/\\([0-7]{3})|\\(.)|([^\\]+)/gs)) {
    if (part[1] !== undefined) bytes.push(parseInt(part[1], 8));
    else if (part[2] !== undefined) bytes.push(named[part[2]] ?? part[2].charCodeAt(0));
    else bytes.push(...plain.encode(part[3]));
  }
  return new TextDecoder().decode(new Uint8Array(bytes));
}
