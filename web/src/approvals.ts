// What agents may do only with a person's consent, and waits for it.

import { signal } from "@preact/signals";

export interface Approval {
  id: string;
  session: string;
  text: string;
}

export const approvals = signal<Approval[]>([]);
