import { expect, test } from 'vitest';
import { addressKey } from './personal-data.ts';

test('the key of the longest address takes no longer than that of a short one', () => {
  // In NFKC, one character becomes 18. A search that tries each of them as the beginning of a domain takes more than a minute.
  expect(addressKey(`${'ﷺ'.repeat(250)}@a.b`)).toMatch(/@a\.b$/);
}, 30_000);

test.each([
  ['ADA@SHOP.EXAMPLE', 'ada@shop.example'],
  ['Ádá@x.example'.normalize('NFD'), 'ÁDÁ@X.EXAMPLE'],
  ['ＡＤＡ@x.example', 'ada@x.example'],
  ['Ada@Bücher.example', 'ada@xn--bcher-kva.example'],
  ['ada@XN--BCHER-KVA.example', 'ada@bücher.example'.normalize('NFD')],
  ['ΝΊΚΟΣ.ΠΑΠΠΆΣ@X.EXAMPLE', 'νίκος.παππάς@x.example'],
  ['ada@νίκος.example', 'ada@xn--kxawhkp.example'],
])('%s and %s are one address', (a, b) => expect(addressKey(a)).toBe(addressKey(b)));

test('an address with other letters is another one', () => {
  expect(addressKey('ada@x.example')).not.toBe(addressKey('adá@x.example'));
  for (const end of ['/x', '?x', '#x', ':80', '\\x'])
    expect(addressKey(`ada@bücher.example${end}`)).not.toBe(addressKey('ada@bücher.example'));
  expect(addressKey('ada@bücher%61.example')).not.toBe(addressKey('ada@büchera.example'));
});
