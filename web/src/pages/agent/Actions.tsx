import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import type { Schema } from "../../api/client";
import { wordsOf } from "../../api/problem";
import { useCw } from "../../app/cw";
import { say, sayFailed } from "../../app/notices";
import { useMutation } from "../../lib/useMutation";
import { Button } from "../../ui/Button";
import { Command } from "../../ui/Command";

/** What is done with an agent as a whole: a shell, an editor, and its end. */
export function Actions({ agent }: { agent: Schema<"AgentView"> }) {
  const { client } = useCw();
  const queries = useQueryClient();
  const [shown, setShown] = useState<"shell" | "open" | null>(null);
  const again = () => queries.invalidateQueries({ queryKey: ["agents"] });
  const failed = (error: unknown) => sayFailed(wordsOf(error));
  const path = { id: agent.id };
  const restore = useMutation({ mutationFn: () => client.post("/v1/agents/{id}/restore", { path }), onSettled: again, onError: failed });
  const remove = useMutation({
    mutationFn: () => client.post("/v1/agents/{id}/remove", { path }),
    onSuccess: () => say(`${agent.name} is removed. Its branch and output stay.`, () => restore.mutate()),
    onSettled: again,
    onError: failed,
  });
  const works = ["pending", "starting", "running"].includes(agent.status);
  const choose = (which: "shell" | "open") => setShown(shown === which ? null : which);
  return (
    <section aria-label="Actions" className="grid gap-2 px-4 py-3">
      <div className="flex flex-wrap gap-2">
        {agent.removedAt ? (
          <Button acting={restore.isPending} onClick={() => restore.mutate()}>Restore</Button>
        ) : (
          <>
            <Button aria-expanded={shown === "shell"} onClick={() => choose("shell")}>Shell</Button>
            <Button aria-expanded={shown === "open"} onClick={() => choose("open")}>Open in editor</Button>
            <Button look="danger" className="border-transparent" disabled={works} acting={remove.isPending} onClick={() => remove.mutate()}>Remove</Button>
          </>
        )}
      </div>
      {shown && !agent.removedAt && <Command text={`cw agent ${shown} ${agent.name}`} />}
      <p className="text-12 text-ink-3">
        {agent.removedAt ? "Removed. Its branch and output stay; its worktree comes back." : works ? "It can be removed when it is at rest." : "Remove takes a snapshot first, and can be undone for 7 days."}
      </p>
    </section>
  );
}
