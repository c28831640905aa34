import type { Schema } from "../api/client";
import { inert } from "../lib/words";
import { Icon } from "../ui/Icon";
import { SectionHead } from "../ui/Section";
import { foldersOf, nameOf } from "./fileTree";
import { PlusMinus } from "./PlusMinus";

interface Props {
  files: Schema<"FileChange">[];
  current: string | undefined;
  viewed: Set<string>;
  /** How many remarks a file has. */
  remarks: Map<string, number>;
  onChoose: (path: string) => void;
}

/** The files that changed, below their folders. */
export function FileList({ files, current, viewed, remarks, onChoose }: Props) {
  return (
    <nav aria-label="Files" className="overflow-auto border-r border-line pb-4 max-tab:hidden">
      <SectionHead title="Files">
        <span className="text-ink-3 tabular-nums">{files.filter((file) => viewed.has(file.path)).length} of {files.length} viewed</span>
      </SectionHead>
      {foldersOf(files).map((folder) => (
        <section key={folder.path}>
          {folder.path !== "" && <h3 className="truncate px-4 pt-2 pb-0.5 font-mono text-11 font-body text-ink-3" title={inert(folder.path)}>{inert(folder.path)}</h3>}
          <ul>
            {folder.files.map((file) => (
              <li key={file.path}>
                <button
                  type="button"
                  aria-current={file.path === current ? "true" : undefined}
                  onClick={() => onChoose(file.path)}
                  className="flex min-h-7 w-full items-center gap-2 pr-3 pl-4 text-left text-12 text-ink-2 hover:bg-hover aria-[current=true]:bg-select aria-[current=true]:font-mid aria-[current=true]:text-ink"
                >
                  <Icon name={viewed.has(file.path) ? "s-idle" : "s-ready"} small className={viewed.has(file.path) ? "text-done" : "text-ink-3"} label={viewed.has(file.path) ? "viewed" : "not viewed"} />
                  <span className="min-w-0 truncate" title={inert(file.path)}>{inert(nameOf(file.path))}</span>
                  {(remarks.get(file.path) ?? 0) > 0 && <Icon name="u-note" small className="text-need-mark" label={`${remarks.get(file.path)} comments`} />}
                  <span className="ml-auto">{file.binary ? <span className="text-ink-3">binary</span> : <PlusMinus additions={file.additions} deletions={file.deletions} />}</span>
                </button>
              </li>
            ))}
          </ul>
        </section>
      ))}
    </nav>
  );
}
