import type { AccountId } from '@deedwire/core';

interface Turn {
  readonly accountId: AccountId;
  readonly clientId: string;
}

interface ClientItems<Item> {
  readonly clientId: string;
  readonly items: Item[];
}

interface AccountItems<Item> {
  readonly accountId: AccountId;
  /** In the order of their turns. */
  readonly clients: ClientItems<Item>[];
}

/**
 * Waiting items. Accounts take turns, and within an account its clients. Each client is first in, first out. Its lists are
 * arrays, because maps would keep the items in memory: see `ShortLivedMap`.
 */
export class FairQueue<Item extends Turn> {
  /** In the order of their turns. */
  readonly #accounts: AccountItems<Item>[] = [];

  /** How many accounts have items. */
  get accounts(): number {
    return this.#accounts.length;
  }

  add(item: Item): void {
    const { accountId, clientId } = item;
    let account = this.#accountOf(item);
    if (account === undefined) {
      account = { accountId, clients: [] };
      this.#accounts.push(account);
    }
    const client = clientOf(account, item);
    if (client === undefined) account.clients.push({ clientId, items: [item] });
    else client.items.push(item);
  }

  /** Removes and returns the next item. */
  take(): Item | undefined {
    const account = this.#accounts.shift();
    const client = account?.clients.shift();
    const item = client?.items.shift();
    if (account === undefined || client === undefined || item === undefined) return undefined;
    if (client.items.length > 0) account.clients.push(client);
    if (account.clients.length > 0) this.#accounts.push(account);
    return item;
  }

  /** Removes an item, if it still waits. */
  remove(item: Item): boolean {
    const account = this.#accountOf(item);
    const client = account && clientOf(account, item);
    const index = client?.items.indexOf(item) ?? -1;
    if (account === undefined || client === undefined || index === -1) return false;
    client.items.splice(index, 1);
    if (client.items.length === 0) account.clients.splice(account.clients.indexOf(client), 1);
    if (account.clients.length === 0) this.#accounts.splice(this.#accounts.indexOf(account), 1);
    return true;
  }

  #accountOf({ accountId }: Turn): AccountItems<Item> | undefined {
    return this.#accounts.find((account) => account.accountId === accountId);
  }
}

function clientOf<Item>({ clients }: AccountItems<Item>, { clientId }: Turn): ClientItems<Item> | undefined {
  return clients.find((client) => client.clientId === clientId);
}
