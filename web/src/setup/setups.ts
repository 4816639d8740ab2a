import type { ServiceSetup } from './service-step.ts'

export const modelSetup: ServiceSetup = {
  service: 'model',
  keys: ['OPENAI_API_KEY'],
  further: { label: 'Use a different service or model', keys: ['OPENAI_BASE_URL', 'CHAT_MODEL'] },
  skip: 'Use the builtin model',
  nothing: 'Enter a key, or use the builtin model.',
}

export const phoneSetup: ServiceSetup = {
  service: 'telephony',
  keys: [
    'TELEPHONY_ACCOUNT_SID',
    'TELEPHONY_AUTH_TOKEN',
    'TELEPHONY_PHONE_NUMBER',
    'OWNER_PHONE_NUMBER',
    'PUBLIC_URL',
  ],
  skip: 'Not now',
  nothing: 'Enter the account, or set up the phone later.',
}
