type Fields = Readonly<Record<string, unknown>>;

/** What Deedwire responds to a request that succeeds. */
export type Success = 'result' | 'session' | 'nothing';

/** What a response says instead of a result. */
interface Refusal {
  readonly message: string;
  readonly code: string;
  readonly requestId?: string;
  /** A web page of something in front of Deedwire, for example of a login. */
  readonly isPage?: boolean;
}

const isText = (value: unknown): value is string => typeof value === 'string';
const isSeconds = (value: unknown): boolean => typeof value === 'number' && Math.abs(value) < 1e9;

const checks: Readonly<Record<Success, (body: Fields, status: number) => boolean>> = {
  result: ({ data }) => isFields(data) && Object.keys(data).length > 0,
  session: ({ account, abilities, ...session }) =>
    isFields(account) &&
    [account['id'], account['name'], session['id'], session['interface'], session['actor']].every(isText) &&
    ['returnUrl', 'subscriptionId', 'documentationUrl'].every((name) => isText(session[name] ?? '')) &&
    ['idleSeconds', 'idleEndsInSeconds', 'expiresInSeconds'].every((name) => isSeconds(session[name] ?? 0)) &&
    isSeconds(session['idleSeconds']) &&
    Array.isArray(abilities) &&
    abilities.every(isText),
  nothing: (_, status) => status === 204,
};

/** Why a response is no success. Null for a success. One that Deedwire cannot have sent is none, whatever its status is. */
export function refusalIn({ status, ok, headers }: Response, text: string, success: Success): Refusal | null {
  const body = parse(text);
  const [error] = Array.isArray(body?.['errors']) ? body['errors'] : [];
  if (ok && error === undefined && body !== null && checks[success](body, status)) return null;
  const { message, extensions }: Fields = isFields(error) ? error : {};
  const { code, requestId }: Fields = isFields(extensions) ? extensions : {};
  if (isText(message) && isText(code)) return { code, message, ...(isText(requestId) && { requestId }) };
  const sender = 'Something between this page and Deedwire';
  const own = { code: `HTTP_${status}` };
  if (/html/i.test(headers.get('Content-Type') ?? ''))
    return { ...own, isPage: true, message: `${sender} answered with a web page (status ${status}).` };
  const found = text === '' ? 'is empty' : body === null ? 'is not JSON' : 'has another form than those of Deedwire';
  return { ...own, message: `The response (status ${status}) ${found}. ${sender} may have sent it.` };
}

/** Null for a text that is not JSON. Empty for no text, and for JSON that is no object. */
function parse(text: string): Fields | null {
  try {
    const body: unknown = JSON.parse(text || '{}');
    return isFields(body) ? body : {};
  } catch {
    return null;
  }
}

function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
