import { useQuery } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import type { Schema } from "../../api/client";
import type { InitiativeView, Phase } from "../../api/initiativeQueries";
import { useCw } from "../../app/cw";
import { useMutation } from "../../lib/useMutation";
import { Button } from "../../ui/Button";
import { Dialog } from "../../ui/Dialog";
import { Failure } from "../../ui/Failure";
import { TextArea, TextField } from "../../ui/FormField";

/** Makes a phase, changes one, or puts it away. */
export function PhaseDialog({ view, phase, onClose }: { view: InitiativeView; phase?: Phase; onClose: () => void }) {
  const { client } = useCw();
  const [name, setName] = useState(phase?.name ?? "");
  const [body, setBody] = useState<string | null>(phase ? null : "");
  const whole = useQuery({
    queryKey: ["initiatives", "phase", phase?.id],
    queryFn: () => client.get("/v1/phases/{phase}", { path: { phase: phase?.id ?? "" } }),
    enabled: phase !== undefined,
  });
  useEffect(() => {
    if (whole.data) setBody((before) => before ?? whole.data.body ?? "");
  }, [whole.data]);
  const save = useMutation({
    mutationFn: (archive: boolean): Promise<Schema<"Phase">> => {
      if (!phase) return client.post("/v1/initiatives/{initiative}/phases", { path: { initiative: view.slug }, body: { name, body: body ?? "" } });
      return client.post("/v1/phases/{phase}", { path: { phase: phase.id }, body: archive ? { status: "archived" } : { name, body: body ?? undefined } });
    },
    onSuccess: onClose,
  });
  return (
    <Dialog title={phase ? "Edit phase" : "New phase"} onClose={onClose}>
      <form className="grid gap-3" onSubmit={(event) => { event.preventDefault(); save.mutate(false); }}>
        <TextField label="Name" required maxLength={200} value={name} onText={setName} autoFocus />
        <TextArea label="What it is to reach" rows={6} value={body ?? ""} disabled={body === null} onText={setBody} help="Markdown." />
        {save.error && <Failure what="The phase was not saved" error={save.error} />}
        <div className="flex items-center gap-2">
          <Button type="submit" look="primary" acting={save.isPending} disabled={name.trim() === ""}>{phase ? "Save" : "Make the phase"}</Button>
          <Button look="quiet" onClick={onClose}>Cancel</Button>
          <span className="flex-1" />
          {phase && <Button onClick={() => save.mutate(true)} title="It goes out of the tree. Nothing of its work is lost.">Archive</Button>}
        </div>
      </form>
    </Dialog>
  );
}
