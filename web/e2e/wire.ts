import { connect, createServer, type AddressInfo, type Server, type Socket } from "node:net";

/**
 * Wire is the network between a browser and the daemon: it passes bytes on,
 * and can be cut. The browser is told to connect here instead of there, so
 * addresses, and the daemon's list of hosts, stay as they are.
 */
export class Wire {
  private readonly open = new Set<Socket>();
  private down = false;

  private constructor(
    private readonly server: Server,
    /** What a browser has to be started with. */
    readonly flag: string,
  ) {}

  static async to(port: number): Promise<Wire> {
    const server = createServer();
    await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
    const { port: here } = server.address() as AddressInfo;
    const wire = new Wire(server, `--host-resolver-rules=MAP 127.0.0.1:${port} 127.0.0.1:${here}`);
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

  /** How many connections stand: none, when the browser goes another way. */
  get connections(): number {
    return this.open.size / 2;
  }

  /** Cuts what is open, and lets nobody in. */
  cut(): void {
    this.down = true;
    for (const one of this.open) one.resetAndDestroy();
  }

  mend(): void {
    this.down = false;
  }

  async close(): Promise<void> {
    this.cut();
    await new Promise((done) => this.server.close(done));
  }
}
