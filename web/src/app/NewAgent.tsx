import { useQuery } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { useRef, useState } from "react";
import { everything } from "../api/queries";
import { wordsOf } from "../api/problem";
import type { Schema } from "../api/client";
import { useMutation } from "../lib/useMutation";
import { Button } from "../ui/Button";
import { Command } from "../ui/Command";
import { Dialog } from "../ui/Dialog";
import { TextArea } from "../ui/TextArea";
import { useCw } from "./cw";
import { say } from "./notices";
import { spawnCommand, type NewAgentForm } from "./spawnCommand";

/** Starts an agent, and shows the command that does the same. */
export function NewAgent({ onClose }: { onClose: () => void }) {
  const { client } = useCw();
  const navigate = useNavigate();
  const projects = useQuery({ queryKey: ["projects", "all"], queryFn: ({ signal }) => everything((cursor) => client.get("/v1/projects", { query: { limit: 500, cursor }, signal })) }).data ?? [];
  const providers = (useQuery({ queryKey: ["providers"], queryFn: ({ signal }) => client.get("/v1/providers", { signal }) }).data?.items ?? []).filter((one) => one.installed && one.name !== "script");
  const accounts = useQuery({ queryKey: ["accounts", "all"], queryFn: ({ signal }) => client.get("/v1/accounts", { signal }) }).data?.items ?? [];
  const [form, setForm] = useState<NewAgentForm>({ project: "", goal: "", provider: "", account: "" });
  const [chosen, setChosen] = useState(false);
  // The only project is meant until somebody says otherwise.
  const project = chosen || projects.length !== 1 ? form.project : (projects[0]?.name ?? "");
  const full = { ...form, project };
  // Twice sent is one agent.
  const requestKey = useRef(crypto.randomUUID());
  const spawn = useMutation({
    mutationFn: () => client.post("/v1/agents", { body: requestOf(full, requestKey.current) }),
    onSuccess: (agent) => {
      say(`${agent.name} runs`);
      onClose();
      void navigate({ to: "/agents/$name", params: { name: agent.name } });
    },
  });
  const set = (change: Partial<NewAgentForm>) => setForm((before) => ({ ...before, ...change }));
  const submit = () => full.goal.trim() !== "" && !spawn.isPending && spawn.mutate();
  // An account is one of a provider, so that is chosen with it.
  const chooseAccount = (id: string) => {
    const one = accounts.find((each) => each.id === id);
    set(one ? { account: one.name, provider: one.provider } : { account: "" });
  };
  const fits = accounts.filter((one) => one.enabled && (full.provider === "" || one.provider === full.provider));
  return (
    <Dialog title="New agent" onClose={onClose}>
      <form
        className="grid gap-3"
        onSubmit={(event) => {
          event.preventDefault();
          submit();
        }}
      >
        <TextArea label="Goal" placeholder="What is to be done. The first line is its title." value={form.goal} onText={(goal) => set({ goal })} onEnter={submit} autoFocus rows={5} />
        <div className="grid grid-cols-3 gap-3 max-tab:grid-cols-1">
          <Choice label="Project" value={project} onChoose={(value) => { setChosen(true); set({ project: value }); }} choices={[{ value: "", text: "None: a folder of its own" }, ...projects.map((one) => ({ value: one.name, text: one.name }))]} />
          <Choice label="Provider" value={form.provider} onChoose={(provider) => set({ provider, account: "" })} choices={[{ value: "", text: "As configured" }, ...providers.map((one) => ({ value: one.name, text: one.title || one.name }))]} />
          <Choice label="Account" value={fits.find((one) => one.name === form.account && one.provider === form.provider)?.id ?? ""} onChoose={(id) => chooseAccount(id)} choices={[{ value: "", text: "The one that is due" }, ...fits.map((one) => ({ value: one.id, text: `${one.provider}/${one.name}` }))]} />
        </div>
        <div className="grid gap-1">
          <span className="text-12 text-ink-3">The same in a terminal</span>
          <Command text={spawnCommand(full)} />
        </div>
        {spawn.error && <p role="alert" className="text-fail">{wordsOf(spawn.error)}</p>}
        <div className="flex items-center gap-2">
          <Button type="submit" look="primary" acting={spawn.isPending} disabled={form.goal.trim() === ""} keys="mod+Enter">Start</Button>
          <Button look="quiet" onClick={onClose}>Cancel</Button>
          <span className="ml-auto text-right text-12 text-ink-3">{project === "" ? "It works in a folder of its own" : "It works in a worktree of its own; your checkout stays as it is"}</span>
        </div>
      </form>
    </Dialog>
  );
}

function requestOf(form: NewAgentForm, requestKey: string): Schema<"SpawnRequest"> {
  return {
    goal: form.goal,
    requestKey,
    ...(form.project !== "" && { projects: [form.project] }),
    ...(form.provider !== "" && { provider: form.provider }),
    ...(form.account !== "" && { accountId: form.account }),
  };
}

interface ChoiceProps {
  label: string;
  value: string;
  choices: { value: string; text: string }[];
  onChoose: (value: string) => void;
}

function Choice({ label, value, choices, onChoose }: ChoiceProps) {
  return (
    <label className="grid gap-1">
      <span className="text-12 text-ink-3">{label}</span>
      <select value={value} onChange={(event) => onChoose(event.currentTarget.value)} className="h-(--control) min-w-0 rounded-box border border-line-2 bg-sunken px-2">
        {choices.map((one) => (
          <option key={one.value} value={one.value}>{one.text}</option>
        ))}
      </select>
    </label>
  );
}
