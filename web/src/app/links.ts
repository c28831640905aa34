/** The pages of the sidebar, in order. */
export interface Place {
  to: "/" | "/initiatives" | "/review" | "/accounts" | "/conversations" | "/activity" | "/settings";
  text: string;
  icon: string;
  /** What its number counts, for who does not see where it stands. */
  counts?: string;
  /** Has no room in the tab bar of a phone, and stands below More. */
  more?: boolean;
}

export const places: Place[] = [
  { to: "/", text: "Now", icon: "u-now", counts: "wait for you" },
  { to: "/initiatives", text: "Initiatives", icon: "u-init", counts: "at work" },
  { to: "/review", text: "Review", icon: "u-review", counts: "to merge or land" },
  { to: "/accounts", text: "Accounts", icon: "u-gauge" },
  { to: "/conversations", text: "Conversations", icon: "u-chat", counts: "unanswered", more: true },
  { to: "/activity", text: "Activity", icon: "u-pulse", more: true },
  { to: "/settings", text: "Settings", icon: "u-gear", more: true },
];

/** The page above one: that of its noun, and Now for agents. null: it is not below another. */
export function above(pathname: string): "/" | "/initiatives" | "/review" | null {
  if (pathname.startsWith("/agents/")) return "/";
  if (pathname.startsWith("/initiatives/")) return "/initiatives";
  return pathname.startsWith("/review/") ? "/review" : null;
}
