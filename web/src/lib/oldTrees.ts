import { options, type VNode } from "preact";

/** What Preact calls its own parts in its build: `_component` and `_vnode`, `_children`. */
interface Node extends VNode {
  __c?: { __v?: Node } | null;
  __k?: unknown;
}
interface Hooks {
  __b?: (node: Node) => void;
  __c?: (root: Node, queue: unknown[]) => void;
}

/**
 * Lets old trees go. What a component's parent gave in its children stays there
 * as it was first, also when the component is painted anew by itself; below it
 * hangs the first tree, and the parts that were skipped since (memo) lead from
 * each tree to the next one. So every tree since the parent's own paint would be
 * kept: 44 kB for each press of j on a board of 30 agents.
 */
export function letOldTreesGo(): void {
  const hooks = options as Hooks;
  const { __b: begin, __c: commit } = hooks;
  let old: Node[] = [];
  hooks.__b = (node) => {
    // It has a component already: it is painted anew by itself.
    const before = node.__c?.__v;
    if (before) old.push(before);
    begin?.(node);
  };
  hooks.__c = (root, queue) => {
    for (const node of old) if (node.__c?.__v !== node) node.__k = undefined;
    old = [];
    commit?.(root, queue);
  };
}
