import type { Http } from './http.ts'
import {
  arrayField,
  asObject,
  isObject,
  numberField,
  optionalString,
  stringField,
  UnexpectedAnswer,
} from './json.ts'

export type Build = {
  readonly version: string
  readonly commit: string | null
  readonly builtAt: string | null
  readonly node: string
}

export async function fetchBuild(http: Http): Promise<Build> {
  const answer = asObject(await http('GET', '/build-info.json'), 'build')
  return {
    version: stringField(answer, 'version'),
    commit: optionalString(answer, 'commit'),
    builtAt: optionalString(answer, 'builtAt'),
    node: stringField(answer, 'node'),
  }
}

/** Text messages waiting for an outage to end. */
export type WaitingTexts = {
  readonly count: number
  readonly since: string
  readonly until: string
  readonly kind: string
}

export async function fetchWaitingTexts(http: Http): Promise<WaitingTexts | null> {
  const { waitingTexts } = asObject(await http('GET', '/api/outbound'), 'outbound')
  if (!isObject(waitingTexts)) return null
  return {
    count: numberField(waitingTexts, 'count'),
    since: stringField(waitingTexts, 'since'),
    until: stringField(waitingTexts, 'until'),
    kind: optionalString(waitingTexts, 'kind') ?? '',
  }
}

export async function sendTextAgain(http: Http, deliveryId: string): Promise<void> {
  await http('POST', `/api/outbound/texts/${encodeURIComponent(deliveryId)}/retry`)
}

/** When outgoing work was put on hold, as after an import or a restore; null if it is not on hold. */
export async function fetchHeldSince(http: Http): Promise<string | null> {
  return optionalString(asObject(await http('GET', '/api/outbound'), 'outbound'), 'heldSince')
}

export async function releaseOutbound(http: Http): Promise<void> {
  await http('POST', '/api/outbound/release')
}

/** Addresses that send forwarding headers but are not listed in TRUSTED_PROXY. */
export async function fetchUndeclaredProxies(http: Http): Promise<readonly string[]> {
  const answer = asObject(await http('GET', '/api/proxies'), 'proxies')
  return arrayField(answer, 'undeclared', (address) => {
    if (typeof address !== 'string') throw new UnexpectedAnswer('undeclared')
    return address
  })
}
