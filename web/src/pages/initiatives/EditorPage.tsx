import type { JSONContent } from "@tiptap/core";
import { useQuery } from "@tanstack/react-query";
import { lazy, Suspense, useEffect, useRef, useState, type ReactNode } from "react";
import type { Schema } from "../../api/client";
import { documentQuery, type PageHead } from "../../api/initiativeQueries";
import { useCw, type Cw } from "../../app/cw";
import { useKeys } from "../../app/keys";
import { Failure } from "../../ui/Failure";
import { Skeleton } from "../../ui/Skeleton";
import type { Keeper } from "./autosave";
import { MarkdownPage } from "./MarkdownPage";
import { PageConflict } from "./PageConflict";
import { plainText } from "./plainText";
import { SaveNote } from "./SaveNote";
import type { EditorControl } from "./TiptapBox";
import { unsafe } from "./unsafe";
import { useAutosave } from "./useAutosave";

const TiptapBox = lazy(() => import("./TiptapBox"));

interface Props {
  page: PageHead;
  active: boolean;
  /** The row above the text, with what is to be said of it. */
  row: (note: ReactNode) => ReactNode;
}

/** A page in the editor. One that is not safe to show there is edited as Markdown. */
export function EditorPage({ page, active, row }: Props) {
  const { client } = useCw();
  const read = useQuery(documentQuery(client, page.id));
  if (read.data && unsafe(read.data.document)) return <MarkdownPage page={page} active={active} row={(note) => row(<>{note}<span>Edited as Markdown: it has pictures or control characters</span></>)} />;
  if (read.data) return <Document page={page} read={read.data} active={active} row={row} />;
  return (
    <>
      {row(null)}
      {read.error ? <Failure what="The page could not be read" error={read.error} onRetry={() => void read.refetch()} /> : <Skeleton rows={8} />}
    </>
  );
}

function Document({ page, read, active, row }: Props & { read: Schema<"EditorDocument"> }) {
  const cw = useCw();
  const save = useAutosave(read.revision, () => keeperOf(cw, page.id), `cw.draft.${page.id}.document`);
  const [first] = useState(() => save.takenUp ?? (read.document as JSONContent));
  const mine = useRef(first);
  const editor = useRef<EditorControl | null>(null);
  useEffect(() => {
    // Somebody else's text comes in, unless one writes here.
    if (save.autosave.pending || read.revision <= save.autosave.base) return;
    save.autosave.follow(read.revision);
    show(read.document as JSONContent);
  }, [read, save]);
  const show = (document: JSONContent) => {
    mine.current = document;
    editor.current?.show(document);
  };
  useKeys("Page", active ? [
    { key: "e", does: "edit page", hint: true, run: () => editor.current?.focus() },
    { key: "Escape", does: "leave the text", typing: true, run: () => (document.activeElement as HTMLElement | null)?.blur() },
  ] : []);
  return (
    <>
      {row(<SaveNote autosave={save.autosave} />)}
      <PageConflict autosave={save.autosave} mine={() => plainText(mine.current)} textOf={plainText} onTheirs={show} />
      <Suspense fallback={<Skeleton rows={8} />}>
        <TiptapBox
          document={first}
          editable={active}
          label={`${page.title}, text`}
          onEdit={(document) => {
            mine.current = document;
            save.autosave.edit(document);
          }}
          onLeave={() => void save.autosave.flush()}
          onReady={(control) => {
            editor.current = control;
          }}
        />
      </Suspense>
    </>
  );
}

function keeperOf({ client, queries }: Cw, id: string): Keeper<JSONContent> {
  const path = { page: id };
  return {
    save: async ({ revision, content }) => {
      const stored = await client.post("/v1/pages/{page}/document", { path, body: { revision, document: content } });
      queries.setQueryData(documentQuery(client, id).queryKey, stored);
      return stored.revision;
    },
    load: async () => {
      const [head, now] = await Promise.all([client.get("/v1/pages/{page}", { path }), client.get("/v1/pages/{page}/document", { path })]);
      return { revision: now.revision, content: now.document as JSONContent, by: head.updatedBy };
    },
  };
}
