import { missing, type Receiver, startReceiver } from '@deedwire/testing';
import { type Page, useBrowser } from '@deedwire/testing/browser';
import { parse } from 'graphql';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createClientAccounts } from '../support/client-accounts.ts';
import {
  createPortalLink,
  follow,
  type PortalSystem,
  problemsOf,
  screenshot,
  startPortalSystem,
  visit,
} from '../support/portal.ts';
import { subscribe } from '../support/subscribe.ts';

const browser = useBrowser('Find and ranges of the portal');

let t: PortalSystem;
let receiver: Receiver;
let north: { id: string };

interface Sent {
  id: string;
  body: string;
  eventId: string;
  recordId: string;
}

/** Of an event that one subscription received, and of two that two subscriptions received. */
let only: Sent;
let shared: readonly Sent[];

/** A record of another account. */
let otherRecord: string;

const place = parse('mutation { placeOrder(input: { item: "Grace Hopper" }) { order { id } } }');
interface Placed {
  placeOrder: { order: { id: string } };
}
const resend = parse(
  'mutation ($subscriptionId: ID!) { replayWebhookEvents(input: { subscriptionId: $subscriptionId }) { webhookReplay { id } } }',
);
interface Resent {
  replayWebhookEvents: { webhookReplay: { id: string } };
}
const numberOf = (id: string): string => id.split('/').at(-1) ?? missing();

function sentOf({ headers, body }: Receiver['deliveries'][number]): Sent {
  const { id: eventId } = JSON.parse(String(body));
  const [recordId = missing()] = /gid:[^"]+\/Order\/\d+/.exec(String(body)) ?? [];
  return { id: String(headers['webhook-id']), body: String(body), eventId, recordId };
}

/** The page and the query after the path of the account. */
const placeOf = (page: Page): string => page.url().replace(/^.*\/portal\/\d+\//, '');

async function open(timezoneId = 'UTC'): Promise<Page> {
  const { page } = await browser.open(t.origin, { timezoneId });
  await follow(page, await createPortalLink(t.customer));
  return page;
}

async function find(page: Page, text: string): Promise<void> {
  await page.getByLabel('Find').fill(text);
  await page.getByRole('button', { name: 'Find' }).click();
}

const alertOf = (page: Page): Promise<string> => page.getByRole('search').getByRole('alert').innerText();
const messageOf = (page: Page): Promise<string> => page.getByRole('search').getByRole('status').innerText();

describe.skipIf(browser.isAbsent)('find and ranges of the portal', () => {
  beforeAll(async () => {
    t = await startPortalSystem();
    receiver = await startReceiver();
    const input = { callbackUrl: receiver.url, eventTypes: [{ type: 'order.placed' }] };
    north = await subscribe(t.customer, { ...input, name: 'CRM of the north' });
    await t.customer.request(place, {});
    only = sentOf((await receiver.waitFor(1))[0] ?? missing());
    await subscribe(t.customer, { ...input, name: 'CRM of the south' });
    await Promise.all([t.customer.request(place, {}), t.customer.request(place, {})]);
    shared = (await receiver.waitFor(5)).slice(1).map(sentOf);
    const [other = missing()] = await createClientAccounts('customer', t, 1);
    otherRecord = (await other.client.request<Placed, object>(place, {})).placeOrder.order.id;
  });
  afterAll(async () => {
    await receiver.close();
    await t.close();
  });

  describe('a time that was not changed keeps its value', () => {
    test.each([
      [
        'America/New_York',
        '2026-11-01T05:30:00.123Z',
        '2026-11-01T06:30:00.456Z',
        'EDT',
        'EST',
        'deliveries',
        'Filter',
      ],
      [
        'Australia/Lord_Howe',
        '2026-04-04T14:45:00.123Z',
        '2026-04-04T15:15:00.456Z',
        'GMT+11',
        'GMT+10:30',
        'recover',
        'Preview',
      ],
      ['UTC', '2026-11-01T06:30:00.123Z', '2026-11-01T06:30:00.124Z', 'UTC', 'UTC', 'recover/completeness', 'Compare'],
    ])('in %s', async (timezoneId, since, until, fromZone, toZone, path, button) => {
      const page = await open(timezoneId);
      await visit(page, `${path}?${new URLSearchParams({ since, until })}`);
      const from = page.getByLabel(`From (${fromZone})`);
      await page.getByLabel(`To (${toZone})`).waitFor();
      expect(await page.getByText(`${since.slice(0, 10)} ${since.slice(11, -1)} UTC`).isVisible()).toBe(true);
      expect(await problemsOf(page)).toEqual([]);
      await page.getByLabel('Event type').selectOption('order.placed');
      await expect.poll(() => placeOf(page)).toContain('type=order.placed');
      await page.getByRole('button', { name: button }).click();
      const { searchParams } = new URL(page.url());
      expect([searchParams.get('since'), searchParams.get('until')]).toEqual([since, until]);
      expect(await from.isVisible()).toBe(true);
    });
  });

  test('a time of the address that is not valid is reported beside its field', async () => {
    const page = await open();
    await visit(page, 'deliveries?since=-1');
    const from = page.locator('label', { hasText: 'From' });
    await from.getByText('The address of this page has no valid time here.').waitFor();
    expect(await from.locator('input').inputValue()).toBe('');
    await page.getByText(/A DateTime is .*found "-1"/).waitFor();
    expect(await problemsOf(page)).toEqual([]);
    await page.getByRole('button', { name: 'Filter' }).click();
    await page.getByRole('table').waitFor();
    expect(placeOf(page)).toBe('deliveries');
  });

  test('a typed time in an hour that repeats has the offset of the time that it replaces, and shows UTC', async () => {
    const page = await open('America/New_York');
    await visit(page, 'deliveries?since=2026-11-01T05:10:00.000Z&until=2026-11-01T06:50:00.000Z');
    await page.getByLabel('From (EDT)').fill('2026-11-01T01:30:00');
    await page.getByText('2026-11-01 05:30:00.000 UTC').waitFor();
    await page.getByLabel('To (EST)').fill('2026-11-01T01:30:07');
    await page.getByText('2026-11-01 06:30:07.000 UTC').waitFor();
    await page.getByRole('button', { name: 'Filter' }).click();
    const places = () => [...new URL(page.url()).searchParams.values()];
    await expect.poll(places).toEqual(['2026-11-01T05:30:00.000Z', '2026-11-01T06:30:07.000Z']);
    // The clock skips this time.
    await page.getByLabel('From (EDT)').fill('2026-03-08T02:30:00');
    await page.getByText('2026-03-08 07:30:00.000 UTC').waitFor();
    await page.getByRole('button', { name: 'Filter' }).click();
    await expect.poll(places).toEqual(['2026-03-08T07:30:00.000Z', '2026-11-01T06:30:07.000Z']);
    expect(await page.getByLabel('From (EDT)').inputValue()).toBe('2026-03-08T03:30');

    await visit(page, 'verify');
    await page.getByLabel('Arrived at').fill('2026-11-01T03:30:01');
    await page.getByText('2026-11-01 08:30:01.000 UTC').waitFor();
  });

  test('a choice is one entry of the history, whatever keys are pressed for it', async () => {
    const page = await open();
    await visit(page, 'deliveries');
    const entries = () => page.evaluate('history.length');
    const before = await entries();
    const status = page.getByLabel('Status');
    await status.focus();
    for (const expected of ['PENDING', 'DELIVERED', 'FAILED']) {
      await status.press('ArrowDown');
      await expect.poll(() => placeOf(page)).toBe(`deliveries?status=${expected}`);
    }
    expect(await entries()).toBe(Number(before) + 1);
    // The same range again is no decision either.
    await page.getByRole('button', { name: 'Filter' }).click();
    expect(await entries()).toBe(Number(before) + 1);
    await status.focus();
    await status.press('ArrowUp');
    await expect.poll(() => placeOf(page)).toBe('deliveries?status=DELIVERED');
    for (const expected of ['deliveries?status=FAILED', 'deliveries']) {
      await page.goBack();
      await expect.poll(() => placeOf(page)).toBe(expected);
    }
  });

  test('a range that cannot be resent is refused beside its field, in words for a person', async () => {
    const page = await open();
    await visit(page, 'recover');
    await page.getByLabel('Deliveries', { exact: true }).selectOption({ label: 'All deliveries' });
    await page.getByText('Needed to resend all deliveries.').waitFor();
    await page.getByRole('button', { name: 'Preview' }).click();
    expect(await page.locator('[name=since]:invalid').count()).toBe(1);
    expect(placeOf(page)).toBe('recover?what=all');
    await page.getByLabel('From').fill('2026-11-02T10:00:00');
    await page.getByLabel('To (').fill('2026-11-02T09:00:00');
    await page.getByRole('button', { name: 'Preview' }).click();
    await page.locator('label', { hasText: 'From' }).getByText('From must be before To.').waitFor();
    expect(await problemsOf(page)).toEqual([]);
    await page.setViewportSize({ width: 320, height: 640 });
    expect(await problemsOf(page)).toEqual([]);
    await screenshot(page, 'resend-narrow');
    // As a link with such a range.
    const confirmation = crypto.randomUUID();
    await visit(page, `recover?${new URLSearchParams({ what: 'all', confirmation, counted: '2098-01-01T00:00:00Z' })}`);
    const refusal = await page.getByRole('main').getByRole('alert').innerText();
    expect(refusal).toContain('From must be before To');
    expect(refusal).not.toMatch(/`|since|until/);
    await visit(page, `recover?what=all&since=2026-01-01T00:00:00Z&subscription=${numberOf(north.id)}`);
    await page.getByRole('button', { name: 'Preview' }).click();
    await page.getByText('Resends 3 deliveries. Takes a second or more.').waitFor();
    await page.getByRole('button', { name: 'Resend 3 deliveries' }).waitFor();
  });

  test('a resend says what holds it, and its row takes the focus', async () => {
    const page = await open();
    const subscription = `subscription=${numberOf(north.id)}`;
    await page.route('**/graphql', async (route) => {
      const response = await route.fetch();
      const text = await response.text();
      const held = text
        .replaceAll('"breakerOpenUntil":null', '"breakerOpenUntil":"2099-01-01T00:00:00.000Z"')
        .replaceAll('"pendingCount":0', '"pendingCount":35')
        .replaceAll('"waitsFor":null', '"waitsFor":"BREAKER_OPEN"')
        .replaceAll('"status":"COMPLETED"', '"status":"RUNNING"');
      await route.fulfill({ response, body: held });
    });
    await visit(page, `recover?${subscription}`);
    await page.getByRole('button', { name: 'Preview' }).click();
    await page
      .getByText('Nothing failed for good in this range. 35 are pending: they are sent as the endpoint allows.')
      .waitFor();
    await visit(page, `recover?what=all&since=2026-01-01T00:00:00Z&${subscription}`);
    await page.getByRole('button', { name: 'Preview' }).click();
    await page.getByText('The endpoint is failing: nothing is sent until one delivery succeeds.').waitFor();
    expect(await problemsOf(page)).toEqual([]);
    await page.getByRole('button', { name: 'Resend 3 deliveries' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Resend 3 deliveries' }).click();
    await expect.poll(() => page.evaluate('document.activeElement.className')).toBe('sub');
    const row = page.locator('section.sub');
    expect(await row.innerText()).toMatch(/On hold[^]*The endpoint is failing: nothing is sent until/);
    expect(await row.innerText()).not.toContain('Running');
    await page.setViewportSize({ width: 320, height: 640 });
    expect(await problemsOf(page)).toEqual([]);
    await screenshot(page, 'resend-on-hold');
  });

  test('Find opens what a text names', async () => {
    const { replayWebhookEvents } = await t.customer.request<Resent, object>(resend, { subscriptionId: north.id });
    const page = await open();
    const portal = page.url();
    const delivery = `deliveries/${numberOf(only.id)}`;
    const subscription = `subscriptions/${numberOf(north.id)}`;
    const payload = `'\ufeff${JSON.stringify(JSON.parse(only.body), null, 2).replaceAll('\n', '\r\n')}\r\n'`;
    for (const [text, found] of [
      [only.id, delivery],
      [only.id.replaceAll('/', '\\/'), delivery],
      [encodeURIComponent(encodeURIComponent(only.id)), delivery],
      [numberOf(only.id), delivery],
      [numberOf(only.eventId), delivery],
      [`Did (${only.eventId}) arrive?`, delivery],
      [payload, delivery],
      [JSON.stringify(only.body), delivery],
      [`${portal}${delivery}?attempt=1`, `${delivery}?attempt=1`],
      [`resent by ${replayWebhookEvents.webhookReplay.id}`, `recover?subscription=${numberOf(north.id)}`],
      [north.id, subscription],
      [numberOf(north.id), subscription],
      ['crm of the NORTH', subscription],
      ['north', subscription],
      ['order.placed', 'deliveries?type=order.placed'],
      [only.recordId, `deliveries?record=${encodeURIComponent(only.recordId)}`],
    ] as const) {
      if (placeOf(page) !== '') await page.getByRole('navigation').getByRole('link', { name: 'Subscriptions' }).click();
      await find(page, text);
      await expect.poll(() => placeOf(page), { message: text }).toBe(found);
    }
    // The list keeps what it was found by.
    expect(await page.getByLabel('Find').inputValue()).toBe(only.recordId);
  });

  test('Find reads what is pasted with line breaks, or dropped', async () => {
    const page = await open();
    const headers = `webhook-timestamp: 1\r\nwebhook-id: ${only.id}\r\n2: 3\r\n`;
    const send = (type: string, name: string, add: string): Promise<unknown> =>
      page.evaluate(`{
        const data = new DataTransfer();
        data.${add};
        const init = { bubbles: true, cancelable: true, clipboardData: data, dataTransfer: data };
        document.querySelector('.find input').dispatchEvent(new ${type}('${name}', init));
      }`);
    await send('ClipboardEvent', 'paste', `setData('text/plain', ${JSON.stringify(headers)})`);
    await page.getByLabel('Find').press('Enter');
    await expect.poll(() => placeOf(page)).toBe(`deliveries/${numberOf(only.id)}`);
    await page.goBack();
    await page.getByLabel('Find').waitFor();
    const bytes = JSON.stringify(`\ufeff${only.body}\r\n`);
    await send('DragEvent', 'drop', `items.add(new File([${bytes}], 'body.json'))`);
    await expect.poll(() => placeOf(page)).toBe(`deliveries/${numberOf(only.id)}`);
  });

  test('Find lists the deliveries of one event, and says that several subscriptions receive it', async () => {
    const page = await open();
    const [first = missing()] = shared;
    await find(page, first.body);
    await page.getByText('Several subscriptions receive this event.').waitFor();
    expect(placeOf(page)).toBe(`deliveries?event=${encodeURIComponent(first.eventId)}`);
    expect(await page.getByLabel('Find').inputValue()).toBe(first.eventId);
    const links = page.getByRole('table').getByRole('link');
    const expected = shared.filter(({ eventId }) => eventId === first.eventId).map(({ id }) => numberOf(id));
    const listed = () =>
      page.evaluate<string[]>(`Array.from(document.querySelectorAll('tbody a'), (a) => a.href.split('/').at(-1))`);
    expect(expected).toHaveLength(2);
    expect((await listed()).toSorted()).toEqual(expected.toSorted());
    for (const width of [1280, 320]) {
      await page.setViewportSize({ width, height: 640 });
      expect(await problemsOf(page)).toEqual([]);
      await screenshot(page, `find-event-${width}`);
    }
    // Filters apply besides, and the event can be removed.
    await page.getByLabel('Status').selectOption({ label: 'Failed' });
    await page.getByText('No deliveries match.').waitFor();
    await page.getByLabel('Status').selectOption({ label: 'All' });
    const chip = page.getByRole('link', { name: `Event ${numberOf(first.eventId)}` });
    await chip.press('Enter');
    await expect.poll(() => placeOf(page)).toBe('deliveries');
    expect(await page.evaluate('document.activeElement.id')).toBe('content');
    expect(await page.getByLabel('Find').inputValue()).toBe('');
    await expect.poll(() => links.count()).toBe(5);
  });

  test('Find keeps its text, and says what it can find, if nothing matches', async () => {
    const page = await open();
    const searchable =
      'Paste a delivery, event or record id, a payload, or a link. Or type the name of a subscription.';
    const [namespace] = only.id.split('/WebhookDelivery/');
    for (const [text, message] of [
      ['', searchable],
      ['Grace Hopper', `Nothing matches. ${searchable}`],
      ['%E0%A4%A \ud800', `Nothing matches. ${searchable}`],
      ['9'.repeat(100_000), `Nothing matches. ${searchable}`],
      [
        `${namespace}/WebhookEvent/1`,
        'There is no delivery of this event: no subscription received it, or it is no longer kept.',
      ],
      [`${namespace}/Order/1`, 'There is no delivery about this record, or it is no longer kept.'],
      // The page does not say whether another account has such a record.
      [otherRecord, 'There is no delivery about this record, or it is no longer kept.'],
      ['123456789012345678', 'There is no delivery, event or subscription with the number 123456789012345678.'],
      // A part of the number of each subscription, and of a port.
      [
        numberOf(north.id).slice(0, 2),
        `There is no delivery, event or subscription with the number ${numberOf(north.id).slice(0, 2)}.`,
      ],
      [`${namespace}/WebhookReplay/1`, 'There is no resend with this id, or it is no longer kept.'],
      [
        page.url().replace(/\d+\/$/, '1/deliveries'),
        'This page is of another account, or of another server. Open a link to its portal first.',
      ],
    ] as const) {
      await find(page, text);
      await expect.poll(() => messageOf(page), { message: text.slice(0, 100) }).toBe(message);
      expect(await page.getByLabel('Find').inputValue()).toBe(text.toWellFormed());
      expect(placeOf(page)).toBe('');
    }
    const { message, code, requestId } = {
      message: 'It is overloaded.',
      code: 'SERVICE_UNAVAILABLE',
      requestId: 'request-7',
    };
    await page.route('**/graphql', (route) =>
      route.fulfill({ status: 503, json: { errors: [{ message, extensions: { code, requestId } }] } }),
    );
    await find(page, 'CRM of the');
    await expect.poll(() => alertOf(page)).toBe(`${message}\nSERVICE_UNAVAILABLE, request id request-7`);
    expect(await messageOf(page)).toBe('');
    await page.unrouteAll();
    await find(page, 'CRM of the');
    await expect
      .poll(() => messageOf(page))
      .toMatch(/^Which of these subscriptions\? CRM of the south\s+Healthy\s+CRM of the north\s+Healthy/);
    expect(await page.getByLabel('Find').inputValue()).toBe('CRM of the');
    await page.setViewportSize({ width: 320, height: 640 });
    expect(await problemsOf(page)).toEqual([]);
    await page.getByRole('search').getByRole('link', { name: 'CRM of the north' }).click();
    await expect.poll(() => placeOf(page)).toBe(`subscriptions/${numberOf(north.id)}`);
  });
});
