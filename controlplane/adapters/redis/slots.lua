#!lua name=controlplane

-- Shares the slots of one model among gateways. One hash per model, one field per gateway:
-- "held running-high running-medium running-low waiting-high waiting-medium waiting-low expires".
-- A grant is only ever what nobody else holds: no more run than there are, whoever asks when. Who is
-- granted less than before holds what it had until it asks again, for only then has it heard of it.

local function now_ms()
  local t = redis.call('TIME')
  return t[1] * 1000 + math.floor(t[2] / 1000)
end

local function split(text)
  local found = {}
  for word in string.gmatch(text, '%S+') do
    found[#found + 1] = tonumber(word)
  end
  return found
end

-- Gives each of the gateways at most what it wants, none more than another that wants as much.
local function fairly(wants, room)
  local given, open = {}, 0
  for i, want in ipairs(wants) do
    given[i] = 0
    if want > 0 then
      open = open + 1
    end
  end
  while room > 0 and open > 0 do
    local each = math.max(1, math.floor(room / open))
    for i, want in ipairs(wants) do
      if room > 0 and given[i] < want then
        local more = math.min(each, want - given[i], room)
        given[i], room = given[i] + more, room - more
        if given[i] == want then
          open = open - 1
        end
      end
    end
  end
  return given, room
end

-- KEYS: the model's hash. ARGV: gateway, lease in ms, slots, held, three running, three waiting, and the
-- most it may be granted, for a server that began anew has not heard of the others yet.
local function share(keys, args)
  local key, me, now = keys[1], args[1], now_ms()
  local lease, slots, had = tonumber(args[2]), tonumber(args[3]), tonumber(args[4])
  local names, rows = {}, {}
  local stored = redis.call('HGETALL', key)
  for i = 1, #stored, 2 do
    local row = split(stored[i + 1])
    if row[8] <= now then
      redis.call('HDEL', key, stored[i])
    elseif stored[i] ~= me then
      names[#names + 1], rows[stored[i]] = stored[i], row
    end
  end
  local mine = { 0 }
  for i = 5, 10 do
    mine[#mine + 1] = tonumber(args[i])
  end
  names[#names + 1], rows[me] = me, mine
  table.sort(names)

  -- The highest class first, what runs of it and what waits; the rest is spread evenly.
  local target, room, at = {}, slots, 0
  for i, name in ipairs(names) do
    target[i] = 0
    if name == me then
      at = i
    end
  end
  for class = 2, 4 do
    local wants, given = {}, nil
    for i, name in ipairs(names) do
      wants[i] = rows[name][class] + rows[name][class + 3]
    end
    given, room = fairly(wants, room)
    for i in ipairs(names) do
      target[i] = target[i] + given[i]
    end
  end
  local idle = math.floor(room / #names)
  local left = room - idle * #names
  target[at] = target[at] + idle + (at <= left and 1 or 0)

  local held = 0
  for _, name in ipairs(names) do
    if name ~= me then
      local row = rows[name]
      held = held + math.max(row[1], row[2] + row[3] + row[4])
    end
  end
  local most = tonumber(args[11]) or slots
  local granted = math.max(0, math.min(target[at], slots - held, most))
  mine[1] = math.max(granted, had)
  mine[8] = now + lease
  redis.call('HSET', key, me, table.concat(mine, ' '))
  redis.call('PEXPIRE', key, lease * 2)
  return { granted, #names }
end

local function leave(keys, args)
  return redis.call('HDEL', keys[1], args[1])
end

redis.register_function('controlplane_share', share)
redis.register_function('controlplane_leave', leave)
