-- The newest sessions of a user are asked for at each login, and by an export: an index on the user alone would have to
-- be read and sorted whole.
CREATE INDEX "end_user_sessions_end_user_id_id_idx" ON "end_user_sessions"("end_user_id", "id");

-- The new one serves what this served.
DROP INDEX "end_user_sessions_end_user_id_idx";
