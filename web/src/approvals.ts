// What agents asked to do and that waits for a person's approval.

import { signal } from "@preact/signals";

export interface Approval {
  id: string;
  session: string;
  text: string;
}

export const approvals = signal<Approval[]>([]);
