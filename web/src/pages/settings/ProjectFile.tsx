import { useQueryClient } from "@tanstack/react-query";
import type { Schema } from "../../api/client";
import type { Project } from "../../api/settingsQueries";
import { wordsOf } from "../../api/problem";
import { useCw } from "../../app/cw";
import { sayFailed } from "../../app/notices";
import { count, exactTime, inert } from "../../lib/words";
import { useMutation } from "../../lib/useMutation";
import { Button } from "../../ui/Button";
import { runs } from "./trust";

/** A project's cw.yaml as it is, and the trust in exactly this content. */
export function ProjectFile({ project, file }: { project: Project; file: Schema<"ProjectFileView"> }) {
  const { client } = useCw();
  const queries = useQueryClient();
  const trust = useMutation({
    mutationFn: (revoke: boolean) => client.post("/v1/projects/{ref}/trust", { path: { ref: project.id }, body: { digest: file.digest ?? "", revoke } }),
    onSettled: () => queries.invalidateQueries({ queryKey: ["projects", "file", project.id] }),
    onError: (error) => sayFailed(wordsOf(error)),
  });
  if (!file.present) {
    return (
      <p className="max-w-164 py-1 text-ink-2">
        There is no <code>cw.yaml</code> in the last commit: worktrees get no set-up, and merges no checks. Written and committed at the top of the repository, it stands here to be trusted.
      </p>
    );
  }
  const commands = runs(file);
  return (
    <div className="grid gap-2 py-1">
      {file.problem && <p className="break-words text-fail">{inert(file.problem)}</p>}
      <pre className="max-h-96 overflow-auto rounded-box border border-line bg-sunken px-3 py-2 text-12 break-words whitespace-pre-wrap">{inert(file.content ?? "")}</pre>
      <div className="flex flex-wrap items-center gap-2">
        {commands > 0 && !file.trusted && <Button look="primary" acting={trust.isPending} disabled={file.problem !== undefined} onClick={() => trust.mutate(false)}>Trust this content</Button>}
        {commands > 0 && file.trusted && <Button acting={trust.isPending} onClick={() => trust.mutate(true)}>Trust it no longer</Button>}
        <span className="text-12 text-ink-2">
          {commands === 0
            ? "It runs no command, so nothing is to be trusted."
            : file.trusted
              ? `Trusted${file.trustedAt ? ` since ${exactTime(file.trustedAt)}` : ""}. Another content is asked for anew.`
              : `cw runs its ${count(commands, "command")} on this machine, as you. Until then agents that would begin from it are refused.`}
        </span>
      </div>
    </div>
  );
}
