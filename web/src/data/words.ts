import { msg } from '../design/msg.ts'

export const serviceNames = { chatgpt: 'ChatGPT', claude: 'Claude' } as const

/** Words of others without the characters that would turn around what the page says beside them. */
export const foreignText = (text: string): string => text.replaceAll(/\p{Bidi_Control}/gu, '')

/** The title of an imported conversation. */
export const titleText = (title: string): string => foreignText(title) || msg`Untitled`
