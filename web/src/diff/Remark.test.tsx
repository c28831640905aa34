import { fireEvent, render, screen } from "@testing-library/preact";
import { expect, test, vi } from "vitest";
import { Remark } from "./Remark";

const comment = { id: "1", path: "a.go", side: "new" as const, line: 3, quote: "x", text: "" };

test("a remark that scrolls out of sight while it is written loses nothing", () => {
  const drafts = new Map<string, string>();
  const onEdit = vi.fn();
  const remark = <Remark comment={comment} to="otter" right={false} drafts={drafts} onEdit={onEdit} onRemove={() => undefined} />;
  const first = render(remark);
  fireEvent.input(screen.getByLabelText("Comment"), { target: { value: "half a rem" } });
  first.unmount();
  render(remark);
  expect(screen.getByLabelText<HTMLTextAreaElement>("Comment").value).toBe("half a rem");
  fireEvent.click(screen.getByRole("button", { name: "Keep" }));
  expect(onEdit).toHaveBeenCalledExactlyOnceWith("half a rem");
  expect(drafts.size).toBe(0);
});
