import { useSyncExternalStore } from 'react';

/** The path of the account, for example `/partners/portal/7/`. */
export const base = /^\/[^/]+\/portal\/\d+\//.exec(location.pathname)?.[0] ?? '/';

export type Ability = 'READ' | 'READ_PAYLOAD' | 'OPERATE' | 'CONFIGURE';

export interface Session {
  readonly id: string;
  readonly interface: string;
  readonly account: { readonly id: string; readonly name: string };
  readonly abilities: readonly string[];
  readonly actor: string;
  readonly returnUrl: string | null;
  readonly subscriptionId: string | null;
  readonly expiresAt: string;
  readonly idleSeconds: number;
}

/** What the tab shows: the pages of a session, or why there are none. */
type Gate =
  | { readonly kind: 'loading' | 'signed-out' }
  | { readonly kind: 'link'; readonly token: string }
  | { readonly kind: 'link-failed'; readonly requestId: string | undefined }
  | { readonly kind: 'open'; readonly session: Session }
  | { readonly kind: 'ended'; readonly returnUrl: string | null; readonly requestId: string | undefined };

let gate: Gate = { kind: 'loading' };
const listeners = new Set<() => void>();
/** When the last request of the session was answered: its idle time starts there. */
let lastUsedMs = Date.now();

export function gateNow(): Gate {
  return gate;
}

export function setGate(next: Gate): void {
  gate = next;
  for (const listener of listeners) listener();
}

export function useGate(): Gate {
  return useSyncExternalStore(
    (listener) => (listeners.add(listener), () => listeners.delete(listener)),
    () => gate,
  );
}

/** The session of the pages. They are rendered only while there is one. */
export function useSession(): Session {
  const current = useGate();
  if (current.kind !== 'open') throw new Error('There is no session.');
  return current.session;
}

export function useMay(ability: Ability): boolean {
  return useSession().abilities.includes(ability);
}

/** The session was used: its idle time starts again. */
export function recordUse(): void {
  lastUsedMs = Date.now();
}

/** When the session ends unless it is used. */
export function endOf({ expiresAt, idleSeconds }: Session): number {
  return Math.min(Date.parse(expiresAt), lastUsedMs + idleSeconds * 1000);
}

/** The global identifier of a record, from the number in a URL. */
export function gidOf(session: Session, type: string, number: string): string {
  return session.account.id.replace(/\/[^/]+\/\d+$/, `/${type}/${number}`);
}
