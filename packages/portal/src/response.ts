/** What a response of Deedwire can contain. */
interface ResponseBody {
  readonly data?: unknown;
  /** Of a session. */
  readonly id?: unknown;
  readonly errors?: readonly { message: string; extensions?: { code?: string; requestId?: string } }[];
}

/** What a response says instead of a result. */
interface Refusal {
  readonly message: string;
  readonly code: string;
  readonly requestId?: string;
  /** A web page of something in front of Deedwire, for example of a login. */
  readonly isPage?: boolean;
}

/** Why a response is no success. Null for a success. One that Deedwire cannot have sent is none, whatever its status is. */
export function refusalIn({ status, ok, headers }: Response, text: string): Refusal | null {
  const body = parse(text);
  const [error] = Array.isArray(body?.errors) ? body.errors : [];
  if (ok && !error && body !== null && ('data' in body || 'id' in body || status === 204)) return null;
  const { code, ...known } = error?.extensions ?? {};
  if (error && code) return { ...known, code, message: error.message };
  const sender = 'Something between this page and Deedwire';
  const own = { code: `HTTP_${status}` };
  if (/html/i.test(headers.get('Content-Type') ?? ''))
    return { ...own, isPage: true, message: `${sender} answered with a web page (status ${status}).` };
  const found = text === '' ? 'is empty' : body === null ? 'is not JSON' : 'has another form than those of Deedwire';
  return { ...own, message: `The response (status ${status}) ${found}. ${sender} may have sent it.` };
}

/** Null for a text that is not a JSON object. Empty for no text. */
function parse(text: string): ResponseBody | null {
  try {
    const body: ResponseBody = JSON.parse(text || '{}');
    return typeof body === 'object' ? body : null;
  } catch {
    return null;
  }
}
