import type { AccountId } from '@deedwire/domain';

interface Turn {
  readonly accountId: AccountId;
  readonly clientId: string;
}

/** Waiting items. Accounts take turns, and within an account its clients. Each client is first in, first out. */
export class Turns<Item extends Turn> {
  // A map keeps the order of insertion: after its turn, an account or a client is inserted again at the end.
  readonly #accounts = new Map<AccountId, Map<string, Item[]>>();

  /** How many accounts have items. */
  get accounts(): number {
    return this.#accounts.size;
  }

  add(item: Item): void {
    const clients = this.#accounts.get(item.accountId) ?? new Map<string, Item[]>();
    this.#accounts.set(item.accountId, clients);
    const items = clients.get(item.clientId);
    if (items === undefined) clients.set(item.clientId, [item]);
    else items.push(item);
  }

  /** Removes and returns the next item. */
  take(): Item | undefined {
    const account = this.#accounts.entries().next().value;
    if (account === undefined) return undefined;
    const [accountId, clients] = account;
    const client = clients.entries().next().value;
    const item = client?.[1].shift();
    this.#accounts.delete(accountId);
    if (client === undefined || item === undefined) return undefined;
    const [clientId, items] = client;
    clients.delete(clientId);
    if (items.length > 0) clients.set(clientId, items);
    if (clients.size > 0) this.#accounts.set(accountId, clients);
    return item;
  }

  /** Removes an item, if it still waits. */
  remove(item: Item): boolean {
    const clients = this.#accounts.get(item.accountId);
    const items = clients?.get(item.clientId) ?? [];
    const index = items.indexOf(item);
    if (index === -1) return false;
    items.splice(index, 1);
    if (items.length === 0) clients?.delete(item.clientId);
    if (clients?.size === 0) this.#accounts.delete(item.accountId);
    return true;
  }
}
