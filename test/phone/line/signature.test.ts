import { expect, test } from 'vitest'
import { createSignatureVerifier, type FormFields, parseForm } from '../../../src/phone/line/signature.ts'

// Test vectors published by the provider and its SDKs, all signed with this key.
const authToken = '12345'
const P: FormFields = {
  CallSid: 'CA1234567890ABCDE',
  Caller: '+14158675309',
  Digits: '1234',
  From: '+14158675309',
  To: '+18005551212',
}
const PATH = '/myapp.php?foo=1&bar=2'
const H1 = '0a1ff7634d9ab3b95db5c9a2dfe9416e41502b283a80c7cf19632632f96e6620'
const H2 = '44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a'

const at = (publicUrl: string) => createSignatureVerifier({ authToken, publicUrl })
const verifier = at('https://mycompany.com')

test.each<[what: string, publicUrl: string, pathAndQuery: string, fields: FormFields, signature: string]>([
  ['the plain request', 'https://mycompany.com', PATH, P, 'RSOYDt4T1cUTdK1PDd93/VVr8B8='],
  [
    "the documentation's example",
    'https://example.com',
    PATH,
    { ...P, Caller: '+14158675310', From: '+14158675310' },
    'L/OH5YylLD5NRKLltdqwSvS0BnU=',
  ],
  ['a signed default port', 'https://mycompany.com', PATH, P, 'kvajT1Ptam85bY51eRf/AJRuM3w='],
  ['http with a port', 'http://mycompany.com:1234', PATH, P, 'Zmvh+3yNM1Phv2jhDCwEM3q5ebU='],
  ['http with its default port', 'http://mycompany.com', PATH, P, '0ZXoZLH/DfblKGATFgpif+LLRf4='],
  ['user and password', 'https://user:pass@mycompany.com', PATH, P, 'CukzLTc1tT5dXEDIHm/tKBanW10='],
  ['user, password and port', 'https://user:pass@mycompany.com', PATH, P, 'ZQFR1PTIZXF2MXB8ZnKCvnnA+rI='],
  ['a user alone', 'https://user@mycompany.com', PATH, P, '2YRLlVAflCqxaNicjMpJcSTgzSs='],
  [
    'a quote in the query',
    'https://mycompany.com',
    `${PATH}&Body=It%27s+amazing`,
    P,
    'TfZzewPq8wqrGlMfyAud8+/IvJ0=',
  ],
  [
    'a literal quote',
    'https://mycompany.com',
    `${PATH}&Body=It's+amazing`,
    P,
    'TfZzewPq8wqrGlMfyAud8+/IvJ0=',
  ],
  [
    'a repeated field',
    'https://mycompany.com',
    PATH,
    { 'MessagingBinding.Address': ['+1325xxxxxxx', '+1415xxxxxxx'] },
    '83O6e2vORAoJHUNzJjDWN1jz+BA=',
  ],
  [
    'repeated values, names that begin alike',
    'https://mycompany.com',
    PATH,
    { Sid: 'CA123', SidAccount: 'AC123', Digits: ['5678', '1234', '1234'] },
    'IK+Dwps556ElfBT0I3Rgjkr1wJU=',
  ],
])('verifies the published vector: %s', (_what, publicUrl, pathAndQuery, fields, signature) => {
  expect(at(publicUrl).form({ pathAndQuery, signature }, fields)).toBe(true)
  expect(at(publicUrl).form({ pathAndQuery, signature }, { ...fields, To: '+1' })).toBe(false)
  expect(at(publicUrl).form({ pathAndQuery: `${pathAndQuery}&x=1`, signature }, fields)).toBe(false)
})

test('verifies the published vectors for a JSON body by the hash in the URL', () => {
  const body = '{"property": "value", "boolean": true}'
  const request = {
    pathAndQuery: `${PATH}&bodySHA256=${H1}`,
    signature: 'a9nBmqA0ju/hNViExpshrM61xv4=',
  }
  expect(verifier.json(request, body)).toBe(true)
  expect(verifier.json(request, `${body} `)).toBe(false)
  const empty = {
    pathAndQuery: `${PATH}&bodySHA256=${H2}`,
    signature: 'Ldidvp12m26NI7eqEvxnEpkd9Hc=',
  }
  expect(verifier.json(empty, '{}')).toBe(true)
  const alone = {
    pathAndQuery: `/myapp.php?bodySHA256=${H1}`,
    signature: 'y77kIzt2vzLz71DgmJGsen2scGs=',
  }
  expect(verifier.json(alone, body)).toBe(true)
})

test('keeps the case of the configured host', () => {
  const signature = 'g9IN/x4Cft2g517EjYvEvM/W7LU='
  expect(at('https://MyCompany.com').form({ pathAndQuery: PATH, signature }, P)).toBe(true)
  expect(verifier.form({ pathAndQuery: PATH, signature }, P)).toBe(false)
})

test('verifies an upgrade as wss, with or without a trailing slash, and never as https', () => {
  for (const signature of ['okykUWKkAOgQseVjzERZh4soLeU=', 'm6zCRgAmr39sY5bRHH3mG0yRr1o=']) {
    expect(verifier.upgrade({ pathAndQuery: '/media', signature })).toBe(true)
    expect(verifier.upgrade({ pathAndQuery: '/other', signature })).toBe(false)
    expect(verifier.form({ pathAndQuery: '/media', signature }, {})).toBe(false)
  }
  expect(verifier.upgrade({ pathAndQuery: '/media', signature: undefined })).toBe(false)
})

test('refuses an invalid Public URL when the verifier is created', () => {
  for (const publicUrl of ['', 'mycompany.com', 'ftp://mycompany.com']) expect(() => at(publicUrl)).toThrow()
})

test('rejects a missing, empty or misshapen signature', () => {
  for (const signature of [
    undefined,
    '',
    'x',
    'RSOYDt4T1cUTdK1PDd93/VVr8B8',
    'RSOYDt4T1cUTdK1PDd93/VVr8B8==',
  ]) {
    expect(verifier.form({ pathAndQuery: PATH, signature }, P)).toBe(false)
  }
})

test('rejects a request signed with another key', () => {
  const other = createSignatureVerifier({ authToken: '12346', publicUrl: 'https://mycompany.com' })
  expect(other.form({ pathAndQuery: PATH, signature: 'RSOYDt4T1cUTdK1PDd93/VVr8B8=' }, P)).toBe(false)
})

test('parses a form as it was signed: untrimmed, with repeats and any field name', () => {
  const fields = parseForm('Body=+hi+&Media=a&Media=b&Media=c&__proto__=x&Empty=')
  expect(Object.entries(fields ?? {})).toEqual([
    ['Body', ' hi '],
    ['Media', ['a', 'b', 'c']],
    ['__proto__', 'x'],
    ['Empty', ''],
  ])
})

test('verifies a posted form end to end', () => {
  const posted = new URLSearchParams()
  for (const [name, value] of Object.entries(P)) posted.append(name, String(value))
  const fields = parseForm(posted.toString()) ?? {}
  expect(verifier.form({ pathAndQuery: PATH, signature: 'RSOYDt4T1cUTdK1PDd93/VVr8B8=' }, fields)).toBe(true)
})

test('refuses a form of more than a thousand fields', () => {
  const form = (count: number) => Array.from({ length: count }, (_, at) => `f${at}=1`).join('&')
  expect(Object.keys(parseForm(form(1_000)) ?? {})).toHaveLength(1_000)
  expect(parseForm(form(1_001))).toBe(null)
  expect(parseForm('a&'.repeat(1_001))).toBe(null)
})
