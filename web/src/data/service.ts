import { type Http, Refused } from './http.ts'
import { asObject, isObject, numberField, optionalString, stringField } from './json.ts'

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

/** Text messages that cannot be sent for now. */
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

/** Since when outgoing work waits for its release, as it does after an import or a restore; null where it does not. */
export async function fetchHeldSince(http: Http): Promise<string | null> {
  return optionalString(asObject(await http('GET', '/api/outbound'), 'outbound'), 'heldSince')
}

export async function releaseOutbound(http: Http): Promise<void> {
  await http('POST', '/api/outbound/release')
}

/** A part of the service that stands still, and what is known of why; empty where nothing is. */
export type ServiceFault = { readonly part: string; readonly detail: string }

/** The first part that keeps the service from being ready; null where it is, or is on its way down. */
export async function fetchFault(http: Http): Promise<ServiceFault | null> {
  try {
    await http('GET', '/ready')
    return null
  } catch (error) {
    if (!(error instanceof Refused) || !isObject(error.answer) || !isObject(error.answer.checks)) throw error
    for (const part of ['ledger', 'projections']) {
      const check = error.answer.checks[part]
      if (isObject(check) && check.ok === false)
        return { part, detail: optionalString(check, 'detail') ?? '' }
    }
    return null
  }
}
