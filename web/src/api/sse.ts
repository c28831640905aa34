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
  private rest = "";
  private id: string | null = null;
  private event = "";
  private data: string[] = [];

  /** The frames that are whole with these bytes. */
  push(bytes: Uint8Array): Frame[] {
    this.rest += this.decoder.decode(bytes, { stream: true });
    const lines = this.rest.split(/\r\n|\n|\r(?!$)/);
    this.rest = lines.pop() ?? "";
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
