import type { ServiceSetup } from './service-step.ts'

export const modelSetup: ServiceSetup = {
  service: 'model',
  further: 'Use a different service or model',
  skip: 'Use the builtin model',
  nothing: 'Enter a key, or use the builtin model.',
  fields: [
    {
      key: 'OPENAI_API_KEY',
      label: 'API key',
      type: 'password',
      placeholder: 'sk-…',
      hint: 'From platform.openai.com. Stored encrypted and never shown again.',
    },
    {
      key: 'OPENAI_BASE_URL',
      label: 'Address',
      type: 'url',
      placeholder: 'https://',
      hint: 'URL of any service with an OpenAI-compatible API, such as one on your own machine.',
      isFurther: true,
    },
    {
      key: 'CHAT_MODEL',
      label: 'Model',
      hint: 'Leave empty for the default OpenAI model.',
      isFurther: true,
    },
  ],
}

export const phoneSetup: ServiceSetup = {
  service: 'telephony',
  further: '',
  skip: 'Not now',
  nothing: 'Enter the account, or set up the phone later.',
  fields: [
    {
      key: 'TELEPHONY_ACCOUNT_SID',
      label: 'Account SID',
      placeholder: 'AC…',
      hint: 'From the console of Twilio or a provider with the same API.',
    },
    {
      key: 'TELEPHONY_AUTH_TOKEN',
      label: 'Auth token',
      type: 'password',
      hint: 'Next to the account SID in the console. Stored encrypted.',
    },
    {
      key: 'TELEPHONY_PHONE_NUMBER',
      label: 'Delegate’s number',
      type: 'tel',
      placeholder: '+15550100100',
      hint: 'Your number at the provider.',
    },
    {
      key: 'OWNER_PHONE_NUMBER',
      label: 'Your own number',
      type: 'tel',
      placeholder: '+15550100101',
      hint: 'Calls and texts from this number are yours. Everyone else is a guest.',
    },
    {
      key: 'PUBLIC_URL',
      label: 'Public address of this service',
      type: 'url',
      placeholder: 'https://',
      hint: 'The URL at which the provider can reach this service.',
    },
  ],
}
