/** The setting PRICES for the doubles' models, so that nobody asks for their prices. */
export const DOUBLE_PRICES = JSON.stringify({
  models: {
    'test-model': { input: 5, cachedInput: 0.5, output: 30 },
    'test-realtime': { input: 4, output: 24, audioInput: 32, audioOutput: 64, minute: 0.4 },
  },
})
