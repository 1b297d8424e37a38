import { mkdtemp, open, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** The requests that the APIs accepted. Each is on disk before the load continues, so that no fault can change it. */
export interface AcceptedLog {
  path: string;
  add(entry: AcceptedEvent): Promise<void>;
  read(): Promise<AcceptedEvent[]>;
  /** Removes the file. */
  close(): Promise<void>;
}

export interface AcceptedEvent {
  accountId: string;
  /** Each referral causes one event. */
  referralId: string;
}

export async function openAcceptedLog(): Promise<AcceptedLog> {
  const directory = await mkdtemp(join(tmpdir(), 'deedwire-accepted-'));
  const path = join(directory, 'accepted.log');
  const file = await open(path, 'a');
  return {
    path,
    async add({ accountId, referralId }) {
      await file.write(`${accountId} ${referralId}\n`);
      await file.datasync();
    },
    async read() {
      const lines = (await readFile(path, 'utf8')).split('\n').filter((line) => line !== '');
      return lines.map((line) => {
        const [accountId = '', referralId = ''] = line.split(' ');
        return { accountId, referralId };
      });
    },
    async close() {
      await file.close();
      await rm(directory, { recursive: true });
    },
  };
}
