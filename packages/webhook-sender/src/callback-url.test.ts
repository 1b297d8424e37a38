import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { CallbackPolicy } from './callback-policy.ts';
import type { DeniedRanges } from './callback-rules.ts';
import { checkCallbackUrl } from './callback-url.ts';

const longHost = `${'a'.repeat(60)}.${'b'.repeat(60)}.${'c'.repeat(60)}.${'d'.repeat(60)}.example.com`;
const longestLabel = 'a'.repeat(63);

const nothing = { includes: () => false };
const rulesOf = (policy: CallbackPolicy, deniedRanges: DeniedRanges = nothing) => ({ policy, deniedRanges });

describe('checkCallbackUrl', () => {
  it.each([
    ['https://example.com', 'https://example.com/'],
    ['https://example.com/hooks?a=b&c=%20', 'https://example.com/hooks?a=b&c=%20'],
    ['HTTPS://EXAMPLE.com:443/Hooks', 'https://example.com/Hooks'],
    ['https://example.com:1024/', 'https://example.com:1024/'],
    ['https://example.com:65535/', 'https://example.com:65535/'],
    ['https://bücher.example/ä', 'https://xn--bcher-kva.example/%C3%A4'],
    ['https://8.8.8.8/', 'https://8.8.8.8/'],
    ['https://0x08080808/', 'https://8.8.8.8/'],
    ['https://[2606:4700:4700:0::1111]/', 'https://[2606:4700:4700::1111]/'],
    ['https://example.com/a/../b', 'https://example.com/b'],
    ['https://internal.example.com/', 'https://internal.example.com/'],
    ['https://mylocal.example/', 'https://mylocal.example/'],
    [`https://${longestLabel}.example/`, `https://${longestLabel}.example/`],
    ['https://a.b-c.1.example/', 'https://a.b-c.1.example/'],
    ['https://a--b.example/', 'https://a--b.example/'],
    ['https://_dmarc.my_host.example/', 'https://_dmarc.my_host.example/'],
    ['https://例え。テスト/', 'https://xn--r8jz45g.xn--zckzah/'],
    ['https://example.com/@a?b=@c', 'https://example.com/@a?b=@c'],
    ['https://example.com?@a', 'https://example.com/?@a'],
  ])('accepts %s under both policies', (raw, href) => {
    expect(checkCallbackUrl(raw, rulesOf('public'))).toStrictEqual({ ok: true, href });
    expect(checkCallbackUrl(raw, rulesOf('development'))).toStrictEqual({ ok: true, href });
  });

  it.each([
    ['', 'not an absolute HTTP or HTTPS URL'],
    ['example.com/hooks', 'not an absolute HTTP or HTTPS URL'],
    ['/hooks', 'not an absolute HTTP or HTTPS URL'],
    ['https:example.com', 'not an absolute HTTP or HTTPS URL'],
    ['https://', 'not an absolute HTTP or HTTPS URL'],
    ['https://exa mple.com/', 'spaces'],
    [' https://example.com/', 'spaces'],
    ['https://example.com/\n', 'control characters'],
    ['https://exam\tple.com/', 'control characters'],
    ['https://example.com/\u0000', 'control characters'],
    ['https://example.com/\u007f', 'control characters'],
    ['https:\\\\example.com\\', 'backslashes'],
    ['https://example.com\\@127.0.0.1/', 'backslashes'],
    ['https://user@example.com/', 'user name or a password'],
    ['https://user:password@example.com/', 'user name or a password'],
    ['https://:password@example.com/', 'user name or a password'],
    ['https://@example.com/', 'user name or a password'],
    ['https://:@example.com/', 'user name or a password'],
    ['https://@@example.com/', 'user name or a password'],
    ['https://example.com@/', 'not an absolute HTTP or HTTPS URL'],
    ['https:///example.com/', 'not an absolute HTTP or HTTPS URL'],
    ['https:////user@example.com/', 'not an absolute HTTP or HTTPS URL'],
    ['https://example.com/#', 'fragment'],
    ['https://example.com/#a', 'fragment'],
    ['https://[fe80::1%25eth0]/', 'not an absolute HTTP or HTTPS URL'],
    ['https://example.com./', 'end with a dot'],
    ['https://example.com%2e/', 'end with a dot'],
    ['https://./', 'end with a dot'],
    ['https://a..b.com/', 'The host name a..b.com of the callback URL has an empty label. Remove the extra dot.'],
    ['https://.example.com/', 'empty label'],
    ['https://a%2e.b.com/', 'empty label'],
    [`https://${longestLabel}b.example/`, `has a label of 64 characters, ${longestLabel}b. The maximum is 63.`],
    ['https://-a.example.com/', 'has the label -a. Labels must not begin or end with a hyphen.'],
    ['https://a-.example.com/', 'has the label a-. Labels must not begin or end with a hyphen.'],
    ['https://-/', 'has the label -. Labels must not begin or end with a hyphen.'],
    ['https://example.com-/', 'must not begin or end with a hyphen'],
    ['https://a!b.example.com/', 'has the label a!b. Labels consist of letters, digits, hyphens and underscores.'],
    ['https://*.example.com/', 'has the label *.'],
    ["https://a'b$.example.com/", 'Labels consist of'],
    [`https://${longHost}/`, 'The maximum is 253.'],
    [`https://example.com/${'a'.repeat(2048)}`, 'The maximum is 2048.'],
    [`https://example.com/${'ä'.repeat(500)}`, 'The maximum is 2048.'],
    ['ftp://example.com/', 'not an absolute HTTP or HTTPS URL'],
    ['file:///etc/passwd', 'not an absolute HTTP or HTTPS URL'],
    ['javascript:alert(1)', 'not an absolute HTTP or HTTPS URL'],
    ['data:text/plain,a', 'not an absolute HTTP or HTTPS URL'],
  ])('rejects %j as malformed under both policies: %s', (raw, why) => {
    for (const policy of ['public', 'development'] as const) {
      expect(checkCallbackUrl(raw, rulesOf(policy))).toStrictEqual({
        ok: false,
        code: 'CALLBACK_URL_INVALID',
        message: expect.stringContaining(why),
      });
    }
  });

  it.each([
    ['http://example.com/', 'https://'],
    ['https://example.com:0/', 'port'],
    ['https://example.com:1023/', 'port'],
    ['https://localhost/', 'resolves in public DNS'],
    ['https://a.localhost/', 'resolves in public DNS'],
    ['https://printer.local/', 'resolves in public DNS'],
    ['https://metadata.google.internal/', 'resolves in public DNS'],
    ['https://router.home.arpa/', 'resolves in public DNS'],
    ['https://intranet/', 'resolves in public DNS'],
    ['https://127.0.0.1/', 'public host name or address'],
    ['https://127.1/', 'public host name or address'],
    ['https://2130706433/', 'public host name or address'],
    ['https://0x7f.0.0.1/', 'public host name or address'],
    ['https://0177.0.0.1/', 'public host name or address'],
    ['https://017700000001/', 'public host name or address'],
    ['https://%31%32%37.0.0.1/', 'public host name or address'],
    ['https://１２７.０.０.１/', 'public host name or address'],
    ['https://0/', 'public host name or address'],
    ['https://169.254.169.254/latest/meta-data/', 'public host name or address'],
    ['https://[::1]/', 'public host name or address'],
    ['https://[::ffff:127.0.0.1]/', 'public host name or address'],
  ])('forbids %s only under the public policy: %s', (raw, why) => {
    expect(checkCallbackUrl(raw, rulesOf('public'))).toStrictEqual({
      ok: false,
      code: 'CALLBACK_URL_FORBIDDEN',
      message: expect.stringContaining(why),
    });
    expect(checkCallbackUrl(raw, rulesOf('development'))).toStrictEqual({ ok: true, href: new URL(raw).href });
  });

  it.each(['public', 'development'] as const)('forbids an address in a denied range under the %s policy', (policy) => {
    const rules = rulesOf(policy, { includes: (address) => ['9.9.9.9', '2600::1'].includes(address) });
    for (const [raw, address] of [
      ['https://9.9.9.9/', '9.9.9.9'],
      ['https://0x09090909/', '9.9.9.9'],
      ['https://[2600:0:0::1]/', '2600::1'],
    ] as const) {
      expect(checkCallbackUrl(raw, rules)).toStrictEqual({
        ok: false,
        code: 'CALLBACK_URL_FORBIDDEN',
        message: `The operator denies the address ${address} of the callback URL. Use another host.`,
      });
    }
    expect(checkCallbackUrl('https://9.9.9.8/', rules)).toStrictEqual({ ok: true, href: 'https://9.9.9.8/' });
  });

  const hosts = fc
    .array(fc.string({ unit: fc.constantFrom(..."aZ09-_.@:!'ä。"), maxLength: 66 }), { maxLength: 4 })
    .map((labels) => labels.join('.'));
  const raws = fc.oneof(
    fc.webUrl({ withQueryParameters: true }),
    fc.string(),
    fc.string().map((rest) => `https://${rest}`),
    hosts.map((host) => `https://${host}.com/`),
  );

  it('accepts only names whose labels are allowed', () => {
    fc.assert(
      fc.property(raws, (raw) => {
        const checked = checkCallbackUrl(raw, rulesOf('development'));
        if (!checked.ok || checked.href.includes('[')) return;
        const { hostname } = new URL(checked.href);
        expect(hostname.length).toBeLessThanOrEqual(253);
        expect(hostname).toMatch(/^(?:(?!-)[\w-]{1,63}(?<!-)\.)*(?!-)[\w-]{1,63}(?<!-)$/);
      }),
      { numRuns: Number(process.env['RUNS'] ?? 200) },
    );
  });

  it('returns an href that it accepts unchanged, and never throws', () => {
    fc.assert(
      fc.property(raws, fc.constantFrom('public', 'development'), (raw, policy) => {
        const checked = checkCallbackUrl(raw, rulesOf(policy));
        const href = checked.ok ? checked.href : null;
        const again = href === null ? null : checkCallbackUrl(href, rulesOf(policy));
        expect(again).toStrictEqual(href === null ? null : { ok: true, href });
      }),
      { numRuns: Number(process.env['RUNS'] ?? 100) },
    );
  });
});
