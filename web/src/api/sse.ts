/** One frame of server-sent events. */
export interface Frame {
  id: string | null;
  event: string;
  data: string;
}

/**
 * Takes bytes apart into frames, in whatever pieces they come. Lines that begin
 * with a colon are signs of life and no frames.
 */
export class FrameReader {
  private readonly decoder = new TextDecoder();
  /** The line that is not whole yet. Only joined, never looked at before its end: a frame may be long and come in many pieces. */
  private rest = "";
  /** The last piece ended with a carriage return; a line feed after it belongs to it. */
  private returned = false;
  private id: string | null = null;
  private event = "";
  private data: string[] = [];

  /** The frames that are whole with these bytes. */
  push(bytes: Uint8Array): Frame[] {
    const piece = this.decoder.decode(bytes, { stream: true });
    if (piece === "") return [];
    const lines = (this.returned && piece.startsWith("\n") ? piece.slice(1) : piece).split(/\r\n|\n|\r/);
    this.returned = piece.endsWith("\r");
    lines[0] = this.rest + (lines[0] as string);
    this.rest = lines.pop() as string;
    const frames: Frame[] = [];
    for (const line of lines) {
      const frame = this.line(line);
      if (frame) frames.push(frame);
    }
    return frames;
  }

  private line(line: string): Frame | null {
    if (line === "") return this.finish();
    if (line.startsWith(":")) return null;
    const colon = line.indexOf(":");
    const field = colon < 0 ? line : line.slice(0, colon);
    const value = colon < 0 ? "" : line.slice(colon + 1).replace(/^ /, "");
    if (field === "id") this.id = value;
    if (field === "event") this.event = value;
    if (field === "data") this.data.push(value);
    return null;
  }

  private finish(): Frame | null {
    const frame = { id: this.id, event: this.event, data: this.data.join("\n") };
    const empty = this.data.length === 0 && this.id === null;
    this.id = null;
    this.event = "";
    this.data = [];
    return empty ? null : frame;
  }
}
