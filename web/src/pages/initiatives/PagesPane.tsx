import { useNavigate } from "@tanstack/react-router";
import { useEffect, useRef, useState, type ReactNode } from "react";
import type { InitiativeView, PageHead } from "../../api/initiativeQueries";
import { cx } from "../../lib/cx";
import { inert, oneLine } from "../../lib/words";
import { Button } from "../../ui/Button";
import { EditorPage } from "./EditorPage";
import { MarkdownPage } from "./MarkdownPage";
import { PageDialog } from "./PageDialog";

/** The pages of an initiative: which there are, and the one that is open. */
export function PagesPane({ view, chosen }: { view: InitiativeView; chosen: string }) {
  const navigate = useNavigate({ from: "/initiatives/$slug" });
  const [markdown, setMarkdown] = useState(false);
  const [dialog, setDialog] = useState<"new" | "edit" | null>(null);
  const page = view.pages.find((one) => one.id === chosen) ?? view.pages[0];
  const open = (id: string) => void navigate({ search: (before) => ({ ...before, page: id, task: undefined, view: "page" }), replace: true });
  const active = view.status === "active";
  if (!page) return null;
  const row = (note: ReactNode) => (
    <>
      <div className="flex min-h-8 items-center gap-x-1 text-12 text-ink-3 max-tab:flex-wrap">
        <PageTabs pages={view.pages} chosen={page.id} onOpen={open} />
        {active && <Button look="quiet" icon="u-plus" aria-label="New page" className="w-6! max-tab:w-9!" onClick={() => setDialog("new")} />}
        {active && <Button look="quiet" icon="u-more" aria-label={`Rename, move or remove ${page.title}`} className="w-6! max-tab:w-9!" onClick={() => setDialog("edit")} />}
        <span className="ml-auto flex flex-none items-center gap-2">
          {note}
          <button type="button" aria-pressed={markdown} onClick={() => setMarkdown(!markdown)} className="h-6 rounded-chip px-1 hover:text-ink aria-pressed:bg-here aria-pressed:text-ink">
            Markdown
          </button>
        </span>
      </div>
      <h2 className="mt-2 mb-1 text-20 font-bold tracking-tight break-words">{inert(page.title)}</h2>
    </>
  );
  const Page = markdown ? MarkdownPage : EditorPage;
  return (
    <div className="px-8 pt-2 pb-8 max-tab:px-4">
      <Page key={page.id} page={page} active={active} row={row} />
      {dialog && <PageDialog view={view} page={dialog === "edit" ? page : undefined} below={page} onClose={() => setDialog(null)} onOpen={open} />}
    </div>
  );
}

/** The tree of pages in one row, which scrolls when there are many: a page below another one says so by a mark before it. */
function PageTabs({ pages, chosen, onOpen }: { pages: PageHead[]; chosen: string; onOpen: (id: string) => void }) {
  const parents = new Map(pages.map((page) => [page.id, page.parentId]));
  const root = pages[0]?.id;
  const nav = useRef<HTMLElement>(null);
  useEffect(() => nav.current?.querySelector("[aria-current]")?.scrollIntoView({ block: "nearest", inline: "nearest" }), [chosen]);
  return (
    <nav ref={nav} aria-label="Pages" className="flex min-w-0 gap-px overflow-x-auto rounded-box border border-line bg-sunken p-0.5 text-13 [scrollbar-width:thin]">
      {pages.map((page) => {
        const deep = page.parentId !== "" && page.parentId !== root && parents.has(page.parentId);
        return (
          <button
            key={page.id}
            type="button"
            aria-current={page.id === chosen ? "page" : undefined}
            onClick={() => onOpen(page.id)}
            title={inert(page.title)}
            className={cx("inline-flex h-6 max-w-48 min-w-20 items-center rounded-chip px-2 max-tab:h-8", page.id === chosen ? "flex-none bg-raised font-mid text-ink ring-1 ring-line-2" : "text-ink-2 hover:text-ink")}
          >
            {deep && <span className="mr-1 text-ink-3" aria-hidden="true">›</span>}
            <span className="truncate">{oneLine(page.title)}</span>
          </button>
        );
      })}
    </nav>
  );
}
