import { connect, createServer, type AddressInfo, type Server, type Socket } from "node:net";

/**
 * Wire is the network between a browser and the daemon: a proxy that passes
 * bytes on, and can be cut. The daemon is asked by its own address all the
 * while, so its list of hosts holds.
 */
export class Wire {
  private readonly open = new Set<Socket>();
  private down = false;

  private constructor(
    private readonly server: Server,
    readonly address: string,
  ) {}

  static async to(port: number): Promise<Wire> {
    const server = createServer();
    await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
    const wire = new Wire(server, `http://127.0.0.1:${(server.address() as AddressInfo).port}`);
    server.on("connection", (near) => wire.join(near, port));
    return wire;
  }

  private join(near: Socket, port: number): void {
    if (this.down) return void near.resetAndDestroy();
    const far = connect(port, "127.0.0.1");
    for (const [one, other] of [[near, far], [far, near]] as const) {
      this.open.add(one);
      one.on("error", () => undefined);
      one.on("close", () => {
        this.open.delete(one);
        other.destroy();
      });
      one.pipe(other);
    }
  }

  /** Cuts what is open, and lets nobody in. */
  cut(): void {
    this.down = true;
    for (const one of this.open) one.resetAndDestroy();
  }

  mend(): void {
    this.down = false;
  }

  /** Lets nothing through, as a page that is not run reads nothing; what was sent waits. */
  hold(): void {
    for (const one of this.open) one.pause();
  }

  release(): void {
    for (const one of this.open) one.resume();
  }

  async close(): Promise<void> {
    this.cut();
    await new Promise((done) => this.server.close(done));
  }
}
