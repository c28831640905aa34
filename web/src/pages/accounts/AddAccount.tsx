import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { useCw } from "../../app/cw";
import { say } from "../../app/notices";
import { Button } from "../../ui/Button";
import { Command } from "../../ui/Command";
import { Dialog } from "../../ui/Dialog";
import { Failure } from "../../ui/Failure";
import { Seg } from "../../ui/Seg";
import { Choice, TextField } from "../initiatives/FormField";
import { nameOf } from "./usage";

type By = "apiKey" | "token" | "configDir";

const fields: Record<By, { label: string; help: string; secret: boolean }> = {
  apiKey: { label: "API key", help: "It goes to the daemon on this connection alone, and is kept where the daemon keeps secrets. It is never shown again.", secret: true },
  token: { label: "Token", help: "A long-lived token, as the provider's own CLI prints it. It is never shown again.", secret: true },
  configDir: { label: "Folder", help: "The absolute path of the folder that an existing login lies in.", secret: false },
};

/** Adds an account by a key, a token, or a login that lies in a folder. */
export function AddAccount({ onClose }: { onClose: () => void }) {
  const { client } = useCw();
  const queries = useQueryClient();
  const providers = useQuery({ queryKey: ["providers"], queryFn: async ({ signal }) => (await client.get("/v1/providers", { signal })).items ?? [] });
  const names = [...new Set((providers.data ?? []).map((one) => one.accounts))].filter((one) => one !== "").sort();
  const [provider, setProvider] = useState("claude");
  const [by, setBy] = useState<By>("apiKey");
  const [value, setValue] = useState("");
  const [name, setName] = useState("");
  const field = fields[by];
  const add = useMutation({
    mutationFn: () => client.post("/v1/accounts", { body: { provider, name: name.trim() || undefined, [by]: value.trim() } }),
    onSuccess: (account) => {
      say(`${nameOf(account)} is added. New runs may use it.`);
      void queries.invalidateQueries({ queryKey: ["accounts"] });
      onClose();
    },
  });
  const good = value.trim() !== "";
  return (
    <Dialog title="Add an account" onClose={onClose}>
      <form className="grid gap-3" autoComplete="off" onSubmit={(event) => { event.preventDefault(); if (good) add.mutate(); }}>
        <Choice label="Provider" value={provider} options={(names.length > 0 ? names : [provider]).map((one) => ({ value: one, text: one }))} onChoose={setProvider} />
        <Seg label="By what" value={by} onChoose={(next) => { setBy(next); setValue(""); }} choices={[{ value: "apiKey", text: "API key" }, { value: "token", text: "Token" }, { value: "configDir", text: "Login in a folder" }]} />
        <TextField key={by} label={field.label} type={field.secret ? "password" : "text"} autoComplete="off" spellCheck={false} required value={value} onText={setValue} help={field.help} />
        <TextField label="Name" placeholder="the email address, when nothing is written here" value={name} onText={setName} />
        {add.error && <Failure what="The account was not added" error={add.error} />}
        <div className="flex gap-2">
          <Button type="submit" look="primary" disabled={!good} acting={add.isPending}>Add the account</Button>
          <Button look="quiet" onClick={onClose}>Cancel</Button>
        </div>
      </form>
      <p className="text-12 text-ink-3">A login with the provider's own page is made in a terminal:</p>
      <Command text={`cw account login ${provider}/NAME`} />
    </Dialog>
  );
}
