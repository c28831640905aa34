import { Button } from "../../ui/Button";
import { Command } from "../../ui/Command";
import { Dialog } from "../../ui/Dialog";

const ways: { title: string; text: string; command: string }[] = [
  { title: "Find logins on this machine", text: "Shows those that are no accounts yet, each with the command that adds it.", command: "cw account discover" },
  { title: "Log in anew", text: "Opens the login of the provider's own CLI, in a folder of its own. Your own login is not touched.", command: "cw account add --email you@example.com && cw account login you@example.com" },
  { title: "Add a key or a token", text: "It is asked for and read without being shown, and kept in the system's keyring or a sealed file.", command: "cw account add --provider codex --name work --api-key" },
];

/** How an account is added. Secrets do not go through a browser: a terminal on the daemon's machine takes them. */
export function AddAccount({ onClose }: { onClose: () => void }) {
  return (
    <Dialog title="Add an account" onClose={onClose}>
      <p className="text-ink-2">Secrets never go through the browser. An account is added in a terminal on the machine that runs cw, and stands here at once.</p>
      {ways.map((way) => (
        <section key={way.command} className="grid gap-1">
          <h3 className="font-mid">{way.title}</h3>
          <p className="text-12 text-ink-2">{way.text}</p>
          <Command text={way.command} />
        </section>
      ))}
      <div><Button look="quiet" onClick={onClose}>Close</Button></div>
    </Dialog>
  );
}
