import { ShortLivedMap } from '@deedwire/store';
import { printOldBytes } from '@deedwire/testing/old-generation';
import { pgArray } from '../../src/kernel/sql.ts';

// The parameters of 5,000 statements with 20 positions each, and a lookup of 20 ids that were read from a text.

let position = 2 ** 40;
printOldBytes(() => {
  const positions = Array.from({ length: 20 }, () => (position += 1));
  const ids = pgArray(positions).slice(1, -1).split(',');
  const found = new ShortLivedMap<string, boolean>();
  for (const id of ids) found.set(id, true);
});
