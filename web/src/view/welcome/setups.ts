import type { ServiceSetup } from './service-step.ts'

export const modelSetup: ServiceSetup = {
  service: 'model',
  further: 'Another service than OpenAI, or another model',
  skip: 'Use the builtin model',
  nothing: 'Enter a key, or go on with the builtin model.',
  fields: [
    {
      key: 'OPENAI_API_KEY',
      label: 'API key',
      type: 'password',
      placeholder: 'sk-…',
      hint: 'From platform.openai.com. It is kept encrypted, and is shown to nobody again.',
    },
    {
      key: 'OPENAI_BASE_URL',
      label: 'Address',
      type: 'url',
      placeholder: 'https://',
      hint: 'Of any service that speaks the OpenAI API: one on your own machine, for instance.',
      isFurther: true,
    },
    {
      key: 'CHAT_MODEL',
      label: 'Model',
      hint: 'Empty: the one that OpenAI is asked for by default.',
      isFurther: true,
    },
  ],
}

export const phoneSetup: ServiceSetup = {
  service: 'telephony',
  further: '',
  skip: 'Not now',
  nothing: 'Enter the account, or leave the phone for later.',
  fields: [
    {
      key: 'TELEPHONY_ACCOUNT_SID',
      label: 'Account SID',
      placeholder: 'AC…',
      hint: 'From the console of Twilio, or of a provider with the same API.',
    },
    {
      key: 'TELEPHONY_AUTH_TOKEN',
      label: 'Auth token',
      type: 'password',
      hint: 'Beside it. It is kept encrypted.',
    },
    {
      key: 'TELEPHONY_PHONE_NUMBER',
      label: 'Delegate’s number',
      type: 'tel',
      placeholder: '+15550100100',
      hint: 'The number that you have there.',
    },
    {
      key: 'OWNER_PHONE_NUMBER',
      label: 'Your own number',
      type: 'tel',
      placeholder: '+15550100101',
      hint: 'Who calls or writes from it is you; everybody else is a guest.',
    },
    {
      key: 'PUBLIC_URL',
      label: 'Public address of this service',
      type: 'url',
      placeholder: 'https://',
      hint: 'Where the provider reaches it from the internet.',
    },
  ],
}
