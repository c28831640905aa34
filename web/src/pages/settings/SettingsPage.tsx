import { Link, useSearch } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { useTitle } from "../../app/title";
import { Main, TopBar } from "../../app/TopBar";
import { AccessTab } from "./AccessTab";
import { BrowserTab } from "./BrowserTab";
import { LimitsTab } from "./LimitsTab";
import { NoticesTab } from "./NoticesTab";
import { ProjectsTab } from "./ProjectsTab";
import { ProvidersTab } from "./ProvidersTab";

interface Tab {
  value: string;
  text: string;
  show: () => ReactNode;
}

const projects: Tab = { value: "projects", text: "Projects", show: () => <ProjectsTab /> };
const tabs: Tab[] = [
  projects,
  { value: "providers", text: "Providers", show: () => <ProvidersTab /> },
  { value: "limits", text: "Limits", show: () => <LimitsTab /> },
  { value: "access", text: "Tokens and sessions", show: () => <AccessTab /> },
  { value: "notices", text: "Notifications", show: () => <NoticesTab /> },
  { value: "browser", text: "This browser", show: () => <BrowserTab /> },
];

/** How cw is set up on its machine, and how this browser shows it. */
export function SettingsPage() {
  const { tab } = useSearch({ from: "/settings" });
  const here = tabs.find((one) => one.value === tab) ?? projects;
  useTitle("Settings");
  return (
    <>
      <TopBar><h1 className="text-14 font-bold">Settings</h1></TopBar>
      <Main>
        <nav aria-label="Settings" className="sticky top-0 z-2 flex gap-1 overflow-x-auto border-b border-line bg-panel px-3 max-tab:top-12">
          {tabs.map((one) => (
            <Link
              key={one.value}
              to="/settings"
              search={{ tab: one.value }}
              aria-current={one === here ? "page" : undefined}
              className="flex h-10 items-center px-2 whitespace-nowrap text-ink-2 hover:text-ink aria-[current=page]:font-mid aria-[current=page]:text-ink aria-[current=page]:shadow-[inset_0_-2px_0_var(--color-ink)]"
            >
              {one.text}
            </Link>
          ))}
        </nav>
        {here.show()}
      </Main>
    </>
  );
}
