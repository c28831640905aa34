import { useQuery } from "@tanstack/react-query";
import { useEffect, useRef, useState, type ReactNode } from "react";
import { pageQuery, type PageHead } from "../../api/initiativeQueries";
import { useCw, type Cw } from "../../app/cw";
import { useKeys } from "../../app/keys";
import { Failure } from "../../ui/Failure";
import { Skeleton } from "../../ui/Skeleton";
import type { Keeper } from "./autosave";
import { PageConflict } from "./PageConflict";
import { SaveNote } from "./SaveNote";
import { useAutosave } from "./useAutosave";

interface Props {
  page: PageHead;
  active: boolean;
  /** The row above the text, with what is to be said of it. */
  row: (note: ReactNode) => ReactNode;
}

/** A page as the Markdown that it is. */
export function MarkdownPage({ page, active, row }: Props) {
  const { client } = useCw();
  const read = useQuery(pageQuery(client, page.id));
  if (read.data) return <Text page={read.data} active={active} row={row} />;
  return (
    <>
      {row(null)}
      {read.error ? <Failure what="The page could not be read" error={read.error} onRetry={() => void read.refetch()} /> : <Skeleton rows={8} />}
    </>
  );
}

function Text({ page, active, row }: Props) {
  const cw = useCw();
  const save = useAutosave(page.revision, () => keeperOf(cw, page.id), `cw.draft.${page.id}.markdown`);
  const [text, setText] = useState(() => save.takenUp ?? page.body ?? "");
  const area = useRef<HTMLTextAreaElement>(null);
  useEffect(() => {
    // Somebody else's text comes in, unless one writes here.
    if (save.autosave.pending || page.revision <= save.autosave.base) return;
    save.autosave.follow(page.revision);
    setText(page.body ?? "");
  }, [page, save]);
  useKeys("Page", active ? [{ key: "e", does: "edit page", hint: true, run: () => area.current?.focus() }, { key: "Escape", does: "leave the text", typing: true, run: () => area.current?.blur() }] : []);
  const edit = (next: string) => {
    setText(next);
    save.autosave.edit(next);
  };
  return (
    <>
      {row(<SaveNote autosave={save.autosave} />)}
      <PageConflict autosave={save.autosave} mine={() => text} textOf={(theirs) => theirs} onTheirs={setText} />
      <textarea
        ref={area}
        aria-label={`${page.title}, Markdown`}
        value={text}
        readOnly={!active}
        spellCheck={false}
        onInput={(event) => edit(event.currentTarget.value)}
        onBlur={() => void save.autosave.flush()}
        className="field-sizing-content min-h-80 w-full resize-none rounded-box bg-panel py-2 font-mono text-13 leading-6 outline-none!"
      />
    </>
  );
}

function keeperOf({ client, queries }: Cw, id: string): Keeper<string> {
  const path = { page: id };
  return {
    save: async ({ revision, content }) => {
      const stored = await client.post("/v1/pages/{page}", { path, body: { revision, body: content } });
      queries.setQueryData(pageQuery(client, id).queryKey, { ...stored, body: content });
      return stored.revision;
    },
    load: async () => {
      const now = await client.get("/v1/pages/{page}", { path });
      return { revision: now.revision, content: now.body ?? "", by: now.updatedBy };
    },
  };
}
