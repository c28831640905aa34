import { createRootRoute, createRoute, createRouter, lazyRouteComponent } from "@tanstack/react-router";
import { lazy, Suspense } from "react";
import { Failure } from "../ui/Failure";
import { Frame } from "./Frame";
import { Main, TopBar } from "./TopBar";

// Seen by who has a wrong address.
const NotFound = lazy(() => import("./NotFound").then((file) => ({ default: file.NotFound })));
const root = createRootRoute({ component: Frame, notFoundComponent: () => <Suspense fallback={null}><NotFound /></Suspense>, errorComponent: Broken });

// Each page is a file of its own, loaded when it is opened. A page's search
// parameters are checked where they are declared, so that a link always works.
const texts =
  <Name extends string>(...names: Name[]) =>
  (search: Record<string, unknown>): { [N in Name]?: string } =>
    Object.fromEntries(names.flatMap((name) => (typeof search[name] === "string" ? [[name, search[name]]] : []))) as { [N in Name]?: string };

const now = createRoute({
  getParentRoute: () => root,
  path: "/",
  validateSearch: texts("show", "find", "account", "item"),
  component: lazyRouteComponent(() => import("../pages/now/NowPage"), "NowPage"),
});
const agent = createRoute({
  getParentRoute: () => root,
  path: "/agents/$name",
  validateSearch: texts("view", "find", "run"),
  component: lazyRouteComponent(() => import("../pages/agent/AgentPage"), "AgentPage"),
});
const initiatives = createRoute({ getParentRoute: () => root, path: "/initiatives", component: lazyRouteComponent(() => import("../pages/initiatives/InitiativesPage"), "InitiativesPage") });
const initiative = createRoute({
  getParentRoute: () => root,
  path: "/initiatives/$slug",
  validateSearch: texts("page", "task", "view"),
  component: lazyRouteComponent(() => import("../pages/initiatives/InitiativePage"), "InitiativePage"),
});
const review = createRoute({ getParentRoute: () => root, path: "/review", component: lazyRouteComponent(() => import("../pages/review/ReviewPage"), "ReviewPage") });
const reviewOne = createRoute({
  getParentRoute: () => root,
  // What is reviewed: agent, task or initiative, and its name or id.
  path: "/review/$noun/$ref",
  validateSearch: texts("file"),
  component: lazyRouteComponent(() => import("../pages/review/DiffPage"), "DiffPage"),
});
const accounts = createRoute({ getParentRoute: () => root, path: "/accounts", component: lazyRouteComponent(() => import("../pages/accounts/AccountsPage"), "AccountsPage") });
const conversations = createRoute({
  getParentRoute: () => root,
  path: "/conversations",
  validateSearch: texts("id", "show"),
  component: lazyRouteComponent(() => import("../pages/conversations/ConversationsPage"), "ConversationsPage"),
});
const activity = createRoute({
  getParentRoute: () => root,
  path: "/activity",
  validateSearch: texts("type", "agent", "initiative"),
  component: lazyRouteComponent(() => import("../pages/activity/ActivityPage"), "ActivityPage"),
});
const settings = createRoute({
  getParentRoute: () => root,
  path: "/settings",
  validateSearch: texts("tab"),
  component: lazyRouteComponent(() => import("../pages/settings/SettingsPage"), "SettingsPage"),
});
const more = createRoute({ getParentRoute: () => root, path: "/more", component: lazyRouteComponent(() => import("../pages/more/MorePage"), "MorePage") });

export const router = createRouter({
  routeTree: root.addChildren([now, agent, initiatives, initiative, review, reviewOne, accounts, conversations, activity, settings, more]),
  defaultPreload: "intent",
  scrollRestoration: false,
});

declare module "@tanstack/react-router" {
  interface Register {
    router: typeof router;
  }
}

function Broken({ error }: { error: unknown }) {
  return (
    <>
      <TopBar><h1 className="text-14 font-bold">This page</h1></TopBar>
      <Main><Failure what="This page could not be shown" error={error} onRetry={() => location.reload()} /></Main>
    </>
  );
}
