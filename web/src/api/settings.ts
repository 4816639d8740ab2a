import { type Http, Refused } from './http.ts'
import {
  arrayField,
  asObject,
  booleanField,
  type JsonObject,
  optionalString,
  stringField,
  UnexpectedAnswer,
} from './json.ts'

export type SettingSource = 'stored' | 'environment' | 'default' | 'unset'

export type Setting = {
  readonly key: string
  readonly title: string
  readonly description: string
  readonly group: string
  /** As shown in a form. Null while unset, and always null for a secret. */
  readonly value: string | null
  readonly isNumber: boolean
  readonly secret: boolean
  readonly set: boolean
  readonly source: SettingSource
  /** For a secret: the host it was entered for, and the host it would be sent to now. */
  readonly enteredFor: string | null
  readonly sentTo: string | null
  readonly restart: boolean
  readonly unit: string | null
  readonly choices: readonly string[] | null
}

export type Step = { readonly name: string; readonly ok: boolean; readonly detail: string }
export type ConnectionTest = { readonly ok: boolean; readonly steps: readonly Step[] }
export type TestedService = 'model' | 'telephony'

function sourceField(object: JsonObject): SettingSource {
  const source = stringField(object, 'source')
  if (source === 'stored' || source === 'environment' || source === 'default' || source === 'unset')
    return source
  throw new UnexpectedAnswer('source')
}

function shownValue(object: JsonObject): string | null {
  const { value } = object
  if (value === null || value === undefined) return null
  if (typeof value === 'string' || typeof value === 'number') return String(value)
  throw new UnexpectedAnswer('value')
}

function hostField(object: JsonObject, field: string): string | null {
  const origin = optionalString(object, field)
  return origin === null ? null : new URL(origin).host
}

function parseSetting(entry: unknown): Setting {
  const object = asObject(entry, 'setting')
  const key = stringField(object, 'key')
  const isString = (item: unknown) => {
    if (typeof item !== 'string') throw new UnexpectedAnswer('choices')
    return item
  }
  return {
    key,
    title: optionalString(object, 'title') ?? key,
    description: stringField(object, 'description'),
    group: optionalString(object, 'group') ?? 'service',
    value: shownValue(object),
    isNumber: typeof object.value === 'number',
    secret: booleanField(object, 'secret'),
    set: booleanField(object, 'set'),
    source: sourceField(object),
    enteredFor: hostField(object, 'enteredFor'),
    sentTo: hostField(object, 'sentTo'),
    restart: booleanField(object, 'restart'),
    unit: optionalString(object, 'unit'),
    choices: Array.isArray(object.choices) ? arrayField(object, 'choices', isString) : null,
  }
}

function parseSettings(answer: unknown): readonly Setting[] {
  return arrayField(asObject(answer, 'settings'), 'entries', parseSetting)
}

export async function fetchSettings(http: Http): Promise<readonly Setting[]> {
  return parseSettings(await http('GET', '/api/config'))
}

export async function fetchTimezone(http: Http, signal: AbortSignal): Promise<string> {
  const settings = parseSettings(await http('GET', '/api/config', { signal }))
  return settings.find(({ key }) => key === 'TIMEZONE')?.value ?? 'UTC'
}

/** Asks the owner for their password. `error` describes the last attempt. Null if they cancel. */
export type AskPassword = (question: string, error?: string) => Promise<string | null>

/**
 * Changes all settings or none. Throws Refused with a path `entries.KEY` for each invalid one. If the service
 * requires the password, asks until it is correct, or throws Refused (`password_required`) on cancel.
 */
export async function changeSettings(
  http: Http,
  entries: Readonly<Record<string, string>>,
  askPassword: AskPassword = () => Promise.resolve(null),
): Promise<readonly Setting[]> {
  const put = async (password: string | null) =>
    parseSettings(
      await http('PUT', '/api/config', { body: { entries, ...(password === null ? {} : { password }) } }),
    )
  let question = ''
  let password: string | null = null
  for (;;) {
    try {
      return await put(password)
    } catch (error) {
      const problem = error instanceof Refused ? error.problem : null
      const isWrong = problem?.code === 'wrong_password'
      if (!isWrong && problem?.code !== 'password_required') throw error
      if (!isWrong) question = problem.detail
      password = await askPassword(question, isWrong ? 'That is not your password.' : undefined)
      if (password === null) throw error
    }
  }
}

/** Resets a setting to its environment value or default. */
export async function resetSetting(http: Http, key: string): Promise<readonly Setting[]> {
  return parseSettings(await http('DELETE', `/api/config/${encodeURIComponent(key)}`))
}

/** Tests the connection to a service with the current settings. */
export async function testConnection(
  http: Http,
  service: TestedService,
  signal?: AbortSignal,
): Promise<ConnectionTest> {
  const options = { body: { service }, ...(signal ? { signal } : {}) }
  const answer = asObject(await http('POST', '/api/config.test', options), 'test')
  return {
    ok: booleanField(answer, 'ok'),
    steps: arrayField(answer, 'steps', (step) => {
      const object = asObject(step, 'step')
      return {
        name: stringField(object, 'name'),
        ok: booleanField(object, 'ok'),
        detail: stringField(object, 'detail'),
      }
    }),
  }
}
