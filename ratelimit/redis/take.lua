-- Decides the charges of one request. For each of KEYS there are six arguments:
-- algorithm, rate, period in microseconds, burst, cost, and 1 for a shadow.
-- The answer has four whole numbers for each: allowed, remaining, and the
-- microseconds until the same charge would pass and until nothing is owed.
--
-- A cost below zero gives units back. All charges are made when every one that
-- is no shadow is allowed, none otherwise.
--
-- Lua's numbers are doubles: whole to 2^53, which burst x period in
-- microseconds stays below. What could pass that is taken apart first.
local t = redis.call('TIME')
local now = t[1] * 1000000 + t[2]

-- divide gives the whole quotient and the rest, both exact.
local function divide(a, b)
  local rest = math.fmod(a, b)
  return (a - rest) / b, rest
end

local function roundup(a, b)
  local q, rest = divide(a, b)
  if rest > 0 then q = q + 1 end
  return q
end

-- number reads what this script wrote; nil for anything else.
local function number(text)
  if #text > 16 then return nil end
  local n = tonumber(text)
  if n > 9007199254740992 then return nil end
  return n
end

-- drained is what is left of a debt, after some time at a rate.
local function drained(debt, elapsed, rate)
  local whole = divide(debt, rate)
  if elapsed > whole then return 0 end
  return debt - elapsed * rate
end

-- converted is as many units of another period, rounded up.
local function converted(debt, from, to)
  local units, rest = divide(debt, from)
  if rest == 0 then return units * to end
  if rest * to <= 9007199254740992 then return units * to + roundup(rest * to, from) end
  return units * to + math.ceil(rest / from * to) + 1
end

-- four reads the numbers of a state; nil if it is none.
local function four(text)
  local a, b, c, d = string.match(text, '^(%d+):(%d+):(%d+):(%d+)$')
  if not a then return nil end
  a, b, c, d = number(a), number(b), number(c), number(d)
  if not (a and b and c and d) then return nil end
  return a, b, c, d
end

-- write keeps a state until nothing is owed, and a moment longer.
local function write(key, left, a, b, c, d)
  redis.call('SET', key, string.format('%.0f:%.0f:%.0f:%.0f', a, b, c, d), 'PX', string.format('%.0f', roundup(left, 1000) + 1))
end

local kinds = {}

-- GCRA: the state is last:debt:rate:period. A debt falls by rate each
-- microsecond, and a unit costs the period.
kinds.gcra = {
  load = function(c)
    c.debt, c.cap = 0, c.burst * c.period
    if not c.text then return true end
    local last, debt, rate, period = four(c.text)
    if not last or rate < 1 or period < 1 then return false end
    if now < last then
      c.moved = true -- the clock went back: time counts anew from here
    else
      debt = drained(debt, now - last, rate)
    end
    if rate ~= c.rate or period ~= c.period then
      debt, c.moved = converted(debt, period, c.period), true
    end
    c.debt = math.min(debt, c.cap)
    return true
  end,
  decide = function(c)
    c.after = c.debt
    if c.cost < 0 then
      c.after = math.max(0, c.debt + math.max(c.cost, -c.burst) * c.period)
    end
    local need, room = math.max(c.cost, 0) * c.period, c.cap - c.debt
    c.allowed, c.wait = need <= room, 0
    if c.allowed then
      c.after = c.after + need
    else
      c.wait = roundup(need - room, c.rate)
    end
    c.left = divide(c.cap - c.after, c.period)
    c.reset = roundup(c.after, c.rate)
    c.changed = c.after ~= c.debt
  end,
  save = function(c, charged)
    local debt = charged and c.after or c.debt
    if debt == 0 then return redis.call('DEL', c.key) end
    write(c.key, roundup(debt, c.rate), now, debt, c.rate, c.period)
  end,
}

-- fit makes the counts of a window those of another quota.
local function fit(c, window)
  if window ~= c.window then
    local units = roundup(c.before * (window - c.into) + c.count * window, window)
    c.begin, c.into, c.before, c.count, c.moved = now, 0, 0, math.min(units, c.burst), true
  end
  local over = c.before * (c.window - c.into) + c.count * c.window - c.burst * c.window
  if over > 0 then
    c.count, c.moved = math.min(c.count, c.burst), true
    over = c.before * (c.window - c.into) + c.count * c.window - c.burst * c.window
    c.before = c.before - math.min(c.before, math.max(0, roundup(over, c.window - c.into)))
  end
end

-- The sliding window in two counts: the state is begin:before:count:window, in
-- units taken in the window that began then, and in the one before it, which
-- count for as much of it as the last window still covers.
kinds.sliding_window = {
  load = function(c)
    c.window = roundup(c.burst * c.period, c.rate)
    c.begin, c.into, c.before, c.count = now, 0, 0, 0
    if not c.text then return true end
    local begin, before, count, window = four(c.text)
    if not begin or window < 1 then return false end
    if now < begin then
      begin, c.moved = now, true -- the clock went back
    end
    local into = now - begin
    if into >= window then
      before, count = count, 0
      begin, into = begin + window, into - window
      if into >= window then before = 0 end
    end
    if before == 0 and count == 0 then return true end
    c.begin, c.into, c.before, c.count = begin, into, before, count
    fit(c, window)
    return true
  end,
  decide = function(c)
    c.oldbefore, c.oldcount = c.before, c.count
    local room = c.burst * c.window - c.before * (c.window - c.into) - c.count * c.window
    local need = math.max(c.cost, 0) * c.window
    c.allowed, c.wait = need <= room, 0
    if c.cost < 0 then
      local young = math.min(-c.cost, c.count)
      c.count = c.count - young
      c.before = c.before - math.min(-c.cost - young, c.before)
    elseif c.allowed then
      c.count, room = c.count + c.cost, room - need
    else
      -- What is too much fades in this window, or only in the next.
      local fading, rest, wait = c.before, c.burst - c.cost - c.count, -c.into
      if rest < 0 then fading, rest, wait = c.count, c.burst - c.cost, c.window - c.into end
      c.wait = wait + c.window - divide(rest * c.window, fading)
    end
    c.left = math.max(0, (divide(room, c.window)))
    c.reset = c.count > 0 and 2 * c.window - c.into or c.before > 0 and c.window - c.into or 0
    c.changed = c.count ~= c.oldcount or c.before ~= c.oldbefore
  end,
  save = function(c, charged)
    if not charged then c.before, c.count = c.oldbefore, c.oldcount end
    if c.before == 0 and c.count == 0 then return redis.call('DEL', c.key) end
    local left = c.count > 0 and 2 * c.window - c.into or c.window - c.into
    write(c.key, left, c.begin, c.before, c.count, c.window)
  end,
}

local charges, all = {}, true
for i, key in ipairs(KEYS) do
  local a = (i - 1) * 6
  local c = {
    key = key, kind = kinds[ARGV[a + 1]], rate = tonumber(ARGV[a + 2]), period = tonumber(ARGV[a + 3]),
    burst = tonumber(ARGV[a + 4]), cost = tonumber(ARGV[a + 5]), shadow = ARGV[a + 6] == '1',
  }
  c.text = redis.call('GET', key)
  if not c.kind.load(c) then return redis.error_reply('STATE unreadable') end
  c.kind.decide(c)
  all = all and (c.allowed or c.shadow)
  charges[i] = c
end

local answer = {}
for _, c in ipairs(charges) do
  if all and c.allowed and c.changed then
    c.kind.save(c, true)
  elseif c.moved and c.cost ~= 0 then
    -- A refusal writes nothing, but for what would else be decided anew each
    -- time from a clock or a quota that is no more.
    c.kind.save(c, false)
  end
  answer[#answer + 1] = c.allowed and 1 or 0
  answer[#answer + 1] = c.left
  answer[#answer + 1] = c.wait
  answer[#answer + 1] = c.reset
end
return answer
