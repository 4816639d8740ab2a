import {
  type AdaptationWords,
  CHANNELS,
  channelsSchema,
  contentSchema,
  titleSchema,
  toChannels,
} from './adaptation.ts'

export type ParsedFile =
  | { readonly ok: true; readonly adaptation: AdaptationWords }
  | { readonly ok: false; readonly reason: string }

/**
 * Parses an adaptation file: markdown with optional front matter, lines of `key: value` between two `---`
 * lines. Keys: `title`, `channels` (`chat, sms` or `[chat, sms]`) and `enabled` (`true` or `false`). Rejects
 * unknown keys, because a misspelt `enabled: false` would leave an instruction in force.
 */
export function parseAdaptationFile(name: string, text: string): ParsedFile {
  const lines = text.replace(/^\ufeff/, '').split(/\r?\n/)
  const fields = new Map<string, string>()
  let body = 0
  if (lines[0]?.trim() === '---') {
    const end = lines.findIndex((line, index) => index > 0 && line.trim() === '---')
    if (end < 0) return refused('the opening --- has no closing ---')
    for (const line of lines.slice(1, end)) {
      if (line.trim() === '' || line.trimStart().startsWith('#')) continue
      const colon = line.indexOf(':')
      const [key, value] = [line.slice(0, Math.max(0, colon)).trim(), line.slice(colon + 1).trim()]
      if (!/^[A-Za-z]+$/.test(key)) return refused('a line between the --- lines is not "key: value"')
      if (fields.has(key)) return refused(`"${key}" occurs twice`)
      fields.set(key, unquoted(value))
    }
    body = end + 1
  }
  const unknown = [...fields.keys()].find((key) => !['title', 'channels', 'enabled'].includes(key))
  if (unknown !== undefined) return refused(`unknown key "${unknown}": use title, channels or enabled`)

  const enabled = fields.get('enabled') ?? 'true'
  if (enabled !== 'true' && enabled !== 'false') return refused('enabled must be true or false')
  const named = fields.get('channels')
  const channels = channelsSchema.safeParse(named === undefined ? CHANNELS : listOf(named))
  if (!channels.success) return refused(`channels must be one or more of ${CHANNELS.join(', ')}`)
  const title = titleSchema.safeParse(fields.get('title') ?? name)
  if (!title.success) return refused('the title is empty or longer than 200 characters')
  const content = contentSchema.safeParse(lines.slice(body).join('\n').trim())
  if (!content.success) return refused('it has no text or more than 20,000 characters')
  return {
    ok: true,
    adaptation: {
      title: title.data,
      content: content.data,
      enabled: enabled === 'true',
      channels: toChannels(channels.data),
    },
  }
}

function refused(reason: string): ParsedFile {
  return { ok: false, reason }
}

function unquoted(value: string): string {
  return /^"[^"]*"$|^'[^']*'$/.test(value) ? value.slice(1, -1) : value
}

function listOf(value: string): string[] {
  const inner = /^\[(.*)\]$/.exec(value)?.[1] ?? value
  return inner.split(',').map((item) => unquoted(item.trim()).toLowerCase())
}
