import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { configQuery, type Setting } from "../../api/settingsQueries";
import { Problem } from "../../api/problem";
import { useCw } from "../../app/cw";
import { cx } from "../../lib/cx";
import { oneLine } from "../../lib/words";
import { Command } from "../../ui/Command";
import { Failure } from "../../ui/Failure";
import { Field } from "../../ui/Field";
import { SectionHead } from "../../ui/Section";
import { Skeleton } from "../../ui/Skeleton";

/** All settings of the daemon. They are changed in a terminal: each says how. */
export function ConfigList() {
  const config = useQuery(configQuery(useCw().client));
  const [find, setFind] = useState("");
  const refused = config.error instanceof Problem && config.error.status === 403;
  const wanted = find.trim().toLowerCase();
  const shown = (config.data ?? []).filter((one) => `${one.key} ${one.about}`.toLowerCase().includes(wanted));
  return (
    <section aria-labelledby="config" className="border-t border-line">
      <SectionHead id="config" title="Settings of the daemon" count={config.data?.length}>
        <Field label="Find a setting" icon="u-search" placeholder="Find" className="ml-auto w-48" value={find} onText={setFind} />
      </SectionHead>
      {config.error && !refused && <Failure what="The settings cannot be read" error={config.error} onRetry={() => void config.refetch()} />}
      {refused && <div className="grid max-w-164 gap-2 p-4 text-ink-2"><p>This browser's token may not read them. In a terminal:</p><Command text="cw config show" /></div>}
      {config.isPending && !config.error && <Skeleton rows={8} />}
      {config.data && shown.length === 0 && <p className="px-4 pb-4 text-ink-3">No setting has these words.</p>}
      <ul>{shown.map((one) => <SettingRow key={one.key} setting={one} />)}</ul>
    </section>
  );
}

function SettingRow({ setting }: { setting: Setting }) {
  const [open, setOpen] = useState(false);
  const changed = setting.source !== "default";
  return (
    <li className="border-t border-line">
      <button type="button" aria-expanded={open} onClick={() => setOpen(!open)} className="grid w-full grid-cols-[minmax(11rem,1fr)_minmax(8rem,1fr)_minmax(0,2fr)] items-center gap-x-3 px-4 py-1.5 text-left hover:bg-hover max-tab:grid-cols-[minmax(0,1fr)]">
        <code className={cx("truncate", changed && "font-bold")}>{setting.key}</code>
        <code className="truncate text-ink-2" title={setting.value}>{oneLine(setting.value) || "nothing"}</code>
        <span className="truncate text-12 text-ink-3">{setting.restart ? <span className="text-need">holds after cw restart</span> : changed ? `from ${setting.source}` : oneLine(setting.about)}</span>
      </button>
      {open && (
        <div className="grid max-w-164 gap-2 px-4 pb-3">
          <p className="text-12 text-ink-2">{oneLine(setting.about)} Takes {oneLine(setting.takes)}. Default: <code>{oneLine(setting.default) || "nothing"}</code>.{setting.where ? ` Set in ${oneLine(setting.where)}.` : ""}</p>
          <Command text={`cw config set ${setting.key} ${setting.value === "" ? "VALUE" : quoted(setting.value)}`} />
        </div>
      )}
    </li>
  );
}

/** A value as a shell takes it. */
export function quoted(value: string): string {
  return /^[\w./:,@%+-]+$/.test(value) ? value : `'${value.replace(/'/g, `'\\''`)}'`;
}
