import { useState } from "react";
import type { InitiativeView, PageHead } from "../../api/initiativeQueries";
import { wordsOf } from "../../api/problem";
import { useCw } from "../../app/cw";
import { say, sayFailed } from "../../app/notices";
import { useMutation } from "../../lib/useMutation";
import { Button } from "../../ui/Button";
import { Dialog } from "../../ui/Dialog";
import { Failure } from "../../ui/Failure";
import { Choice, TextField } from "../../ui/FormField";

interface Props {
  view: InitiativeView;
  /** The page that is changed; missing for a new one. */
  page: PageHead | undefined;
  /** A new page stands below this one at first. */
  below: PageHead;
  onClose: () => void;
  onOpen: (page: string) => void;
}

/** Makes a page, or renames, moves or removes one. */
export function PageDialog({ view, page, below, onClose, onOpen }: Props) {
  const { client } = useCw();
  const root = view.rootPageId;
  const [title, setTitle] = useState(page?.title ?? "");
  const [parentId, setParent] = useState(page ? page.parentId : below.id === root ? root : below.parentId);
  const siblings = view.pages.filter((one) => one.parentId === parentId && one.id !== page?.id);
  const [position, setPosition] = useState(String(page?.position ?? siblings.length));
  const save = useMutation({
    mutationFn: () =>
      page
        ? client.post("/v1/pages/{page}", { path: { page: page.id }, body: page.id === root ? { title } : { title, parentId, position: Math.min(Number(position), siblings.length) } })
        : client.post("/v1/initiatives/{initiative}/pages", { path: { initiative: view.slug }, body: { title, parentId } }),
  });
  // Who closed the dialog meanwhile is led nowhere.
  const saved = ({ id }: { id: string }) => {
    onClose();
    if (!page) onOpen(id);
  };
  const remove = useRemove(view);
  const removed = ({ parentId }: { parentId: string }) => {
    onClose();
    onOpen(parentId);
  };
  const hasBelow = page !== undefined && view.pages.some((one) => one.parentId === page.id);
  const error = save.error ?? remove.error;
  return (
    <Dialog title={page ? `Page: ${page.title}` : "New page"} onClose={onClose}>
      <form className="grid gap-3" onSubmit={(event) => { event.preventDefault(); save.mutate(undefined, { onSuccess: saved }); }}>
        <TextField label="Title" required maxLength={200} value={title} onText={setTitle} autoFocus />
        {page?.id !== root && (
          <div className="grid grid-cols-2 gap-3">
            <Choice label="Below" value={parentId} options={view.pages.filter((one) => !isWithin(view.pages, one.id, page?.id)).map((one) => ({ value: one.id, text: one.title }))} onChoose={setParent} />
            {page && <Choice label="Place" value={String(Math.min(Number(position), siblings.length))} options={[...siblings, null].map((next, i) => ({ value: String(i), text: next ? `before ${next.title}` : "last" }))} onChoose={setPosition} />}
          </div>
        )}
        {error && <Failure what={remove.error ? "The page was not removed" : "The page was not saved"} error={error} />}
        <div className="flex items-center gap-2">
          <Button type="submit" look="primary" acting={save.isPending} disabled={title.trim() === ""}>{page ? "Save" : "Make the page"}</Button>
          <Button look="quiet" onClick={onClose}>Cancel</Button>
          <span className="flex-1" />
          {page && page.id !== root && (
            <Button look="danger" disabled={hasBelow} title={hasBelow ? "Pages stand below it: move or remove them first" : "It can be undone for 8 seconds"} acting={remove.isPending} onClick={() => remove.mutate(page, { onSuccess: removed })}>
              Remove
            </Button>
          )}
        </div>
      </form>
    </Dialog>
  );
}

/** Removes a page; undone, its text comes back as a new page at the same place. */
function useRemove(view: InitiativeView) {
  const { client } = useCw();
  return useMutation({
    mutationFn: async (page: PageHead) => {
      const whole = await client.get("/v1/pages/{page}", { path: { page: page.id } });
      await client.delete("/v1/pages/{page}", { path: { page: page.id } });
      return whole;
    },
    onSuccess: ({ title, body, parentId, position }) => {
      say(`${title} is removed`, () => {
        client
          .post("/v1/initiatives/{initiative}/pages", { path: { initiative: view.slug }, body: { title, body, parentId } })
          .then((back) => client.post("/v1/pages/{page}", { path: { page: back.id }, body: { position } }))
          .catch((error: unknown) => sayFailed(wordsOf(error)));
      });
    },
  });
}

/** Whether a page is another one, or stands below it. */
function isWithin(pages: Pick<PageHead, "id" | "parentId">[], id: string, of: string | undefined): boolean {
  if (of === undefined) return false;
  const parents = new Map(pages.map((page) => [page.id, page.parentId]));
  for (let one: string | undefined = id, i = 0; one && i <= pages.length; one = parents.get(one), i++) if (one === of) return true;
  return false;
}
