const { DEEDWIRE_URL, CLIENT_ID, API_KEY, ORGANIZATION_ID } = process.env;

export const url = DEEDWIRE_URL;

/** The headers of every request. */
export const headers = {
  'X-Service-Client-Id': CLIENT_ID,
  'X-Service-API-Key': API_KEY,
  'X-Service-Organization-Id': ORGANIZATION_ID,
  'X-Service-Schema-Version': '2026-11-01',
};
