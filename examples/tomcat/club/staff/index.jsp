<%@ page contentType="text/plain; charset=UTF-8" %>Keys of the shed, for <%= request.getRemoteUser() %>
